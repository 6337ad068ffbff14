import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import type { Installation } from "./Installation.ts"

const TSC = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url))

/** A host without Effect. */
const HOST = `
import { createAgentOs, memory, smtp, x402 } from "@agentos/agentos"
import { createServer } from "node:http"

const agentos = await createAgentOs({
  publicUrl: "http://localhost:8080",
  keys: process.env.AGENTOS_KEYS ?? "",
  storage: memory(),
  payment: x402({ networks: [] }),
  mail: smtp({ domain: "agents.example", relay: { host: "relay.example", port: 25, security: "none" } })
})
const server = createServer(agentos.node)
server.on("upgrade", agentos.upgrade)
const response = await agentos.fetch(new Request("http://localhost:8080/health"))
`
const TYPESCRIPT_HOST = `${HOST}
export const status: number = response.status
// @ts-expect-error: the types are not any
export const wrong: string = response.status
`
const JAVASCRIPT_HOST = `${HOST}
/** @type {number} */
export const status = response.status
// @ts-expect-error: the types are not any
agentos.fetch("/health")
`
/** A host that composes layers. */
const EFFECT_HOST = `
import { agentOsLayer, AgentOsHandlers, memory, x402 } from "@agentos/agentos"
import { Events } from "@agentos/core"
import { Effect } from "effect"

const options = { publicUrl: "http://localhost:8080", keys: "", storage: memory(), payment: x402({ networks: [] }) }
export const program = Effect.gen(function* () {
  const { fetch } = yield* AgentOsHandlers
  const events = yield* Events
  return { fetch, events }
}).pipe(Effect.provide(agentOsLayer(options)), Effect.scoped)
`

/** Imports every entry point of our packages. */
const everything = (folder: string): string =>
  globSync("node_modules/@agentos/*/package.json", { cwd: folder })
    .flatMap((path) => {
      const { exports = {}, name } = JSON.parse(readFileSync(join(folder, path), "utf8")) as {
        readonly name: string
        readonly exports?: object
      }
      return Object.keys(exports).map((entry) => `${name}${entry.slice(1)}`)
    })
    .map((name, index) => `export * as module${index} from "${name}"\n`)
    .join("")

/** The options of an empty project that checks as much as the compiler can. */
const OPTIONS = { strict: true, module: "nodenext", target: "es2024", noEmit: true, skipLibCheck: false }

/** Returns the errors in the files and in our declarations. Those of libraries are theirs. */
const errorsIn = async (
  { folder, run }: Installation,
  name: string,
  text: string,
  options: object = {}
): Promise<ReadonlyArray<string>> => {
  writeFileSync(join(folder, name), text)
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...OPTIONS, ...options }, files: [name] })
  )
  const { stdout } = await run(24, TSC, "-p", ".").catch((error: unknown) => error as { readonly stdout: string })
  return stdout.split("\n").filter((line) => /^(?:node_modules\/@agentos\/|[^/]+\(|error)/.test(line))
}

export const typesSuite = (installed: () => Installation): void => {
  it.each([
    ["a TypeScript program that imports every entry point", "all.ts", everything, {}],
    ["a TypeScript host", "host.ts", () => TYPESCRIPT_HOST, {}],
    ["a checked JavaScript host", "host.js", () => JAVASCRIPT_HOST, { checkJs: true }],
    ["a host that uses Effect", "effect.ts", () => EFFECT_HOST, {}],
    [
      "a host with the strictest options",
      "strict.ts",
      () => TYPESCRIPT_HOST.replaceAll(".AGENTOS_KEYS", '["AGENTOS_KEYS"]'),
      { exactOptionalPropertyTypes: true, noPropertyAccessFromIndexSignature: true, verbatimModuleSyntax: true }
    ]
  ])("compile with skipLibCheck off and no other setting: %s", async (_title, name, textOf, options) => {
    const installation = installed()
    expect(await errorsIn(installation, name, textOf(installation.folder), options)).toEqual([])
  })
}
