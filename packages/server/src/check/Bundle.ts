import { AUDIT_LIMIT, listAudit } from "@agentos/core"
import { type Check, checksDocument, messageOf } from "@agentos/node/command-line"
import { Effect, Redacted, Schema } from "effect"
import { readStorage, read as readConfig } from "../config/ServerConfig.ts"
import { explain } from "../output/ProgramOutput.ts"
import { writeZipFile } from "../output/NewFile.ts"
import type { ZipEntry } from "../output/ZipFile.ts"
import { currentStorage } from "../program/Maintenance.ts"
import type { VariableSpec } from "../variable/Variable.ts"
import { ALL_VARIABLES, type Environment, unknownVariables } from "../variable/Variables.ts"
import { VERSION } from "../Version.ts"

const METRICS_WITHIN_MILLIS = 10_000
const HIDDEN = "…"
/** A shorter secret is contained in ordinary words. */
const REDACTED_LENGTH_MIN = 4

/** Parts of a secret that could appear alone: a password of a URL, a key in a list. Shorter ones are ordinary words. */
const PARTS = /[\w+~-]{16,}={0,2}|[^\s,:;"'{}[\]@/=?&]{16,}/g
/** What looks like a key or a token, wherever it is. */
const KEY_LIKE = /(?=[\w+~-]*\d)(?=[\w+~-]*[A-Za-z])[\w+~-]{16,}/g
const PEM = /-----BEGIN[\s\S]*?(?:-----END[^-]*-----|$)/g

/** Returns how a variable appears: nothing of a secret, and of a URL only its origin. */
const shownValue = (spec: VariableSpec, value: string | undefined): string | null => {
  if (value === undefined || value.trim() === "") return null
  if (spec.isSecret || spec.kind === "json") return "(set)"
  return value.replaceAll(/[a-z][a-z0-9+.-]*:\/\/[^\s,]*/gi, (text) => {
    const url = URL.parse(text)
    return url === null || url.origin === "null" ? HIDDEN : url.origin
  })
}

/** Removes private keys, every secret of the environment with its parts, and what looks like a key in other variables. */
const redactor = (environment: Environment): ((text: string) => string) => {
  const secrets = ALL_VARIABLES.flatMap(([name, { isSecret, kind }]) => {
    const value = environment[name]?.trim() ?? ""
    return isSecret || kind === "json" ? [value, ...(value.match(PARTS) ?? [])] : (value.match(KEY_LIKE) ?? [])
  })
  const longestFirst = [...new Set(secrets)]
    .filter(({ length }) => length >= REDACTED_LENGTH_MIN)
    .toSorted((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text.replaceAll(PEM, HIDDEN))
}

class NotScraped extends Schema.TaggedError<NotScraped>()("NotScraped", { message: Schema.String }) {}

/** Reads the metrics of the server that runs with this configuration, at its operator listener. */
const scrape = Effect.fnUntraced(function* (environment: Environment) {
  const { operatorListen, operatorToken } = yield* readConfig(environment)
  if (operatorListen === null || operatorToken === null) return "# AGENTOS_OPERATOR_TOKEN is not set.\n"
  const { host, port } = operatorListen
  const at = ["0.0.0.0", "::"].includes(host) ? "localhost" : host.includes(":") ? `[${host}]` : host
  const fetched = async (signal: AbortSignal) => {
    const response = await fetch(`http://${at}:${port}/internal/metrics`, {
      headers: { authorization: `Bearer ${Redacted.value(operatorToken)}` },
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(METRICS_WITHIN_MILLIS)])
    })
    return response.ok ? await response.text() : `# The server answered ${response.status}.\n`
  }
  return yield* Effect.tryPromise({ try: fetched, catch: (error) => new NotScraped({ message: messageOf(error) }) })
})

const recentAudit = (environment: Environment) =>
  Effect.flatMap(readStorage(environment), (config) =>
    Effect.provide(listAudit({ limit: AUDIT_LIMIT }), currentStorage(config))
  )

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** Describes why a part is missing, in its place. */
const orReason = <A, E, R>(
  part: Effect.Effect<A, E, R>,
  found: (value: A) => string
): Effect.Effect<string, never, R> =>
  Effect.match(part, { onSuccess: found, onFailure: (error) => `# Could not be read: ${explain(error)}\n` }).pipe(
    Effect.catchDefect((error) => Effect.succeed(`# Could not be read: ${explain(error)}\n`))
  )

/**
 * Writes a new ZIP file that only this user can read, for those who help: the report, the configuration without secrets, the
 * recent audit, the metrics of the server that runs with this configuration, and versions.
 */
export const writeBundle = Effect.fnUntraced(function* (
  path: string,
  environment: Environment,
  checks: ReadonlyArray<Check>
) {
  const configuration = {
    variables: Object.fromEntries(ALL_VARIABLES.map(([name, spec]) => [name, shownValue(spec, environment[name])])),
    unknown: unknownVariables(environment)
  }
  const files: Readonly<Record<string, string>> = {
    "report.json": json(checksDocument(checks)),
    "configuration.json": json(configuration),
    "audit.json": yield* orReason(recentAudit(environment), json),
    "metrics.txt": yield* orReason(scrape(environment), (text) => text),
    "versions.json": json({ "agentos-server": VERSION, node: process.version, system: process.platform })
  }
  const redacted = redactor(environment)
  yield* writeZipFile(path, entries(Object.entries(files).map(([name, text]) => [name, redacted(text)])))
})

async function* entries(files: ReadonlyArray<readonly [name: string, text: string]>): AsyncGenerator<ZipEntry> {
  for (const [path, text] of files) {
    yield {
      path,
      bytes: (async function* () {
        yield new TextEncoder().encode(text)
      })()
    }
  }
}
