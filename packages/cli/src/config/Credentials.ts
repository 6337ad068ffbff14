import { Failure } from "../failure/Failure.ts"
import { withFreeLock } from "../file/FileLock.ts"
import { isRecord } from "../file/JsonValue.ts"
import { readJsonIfAny, requirePrivate, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"
import { credentialsPath, homeFolder } from "./Home.ts"

/** Tokens by profile, and then by the origin that gave them, which is the only one that they are sent to. */
type Credentials = Readonly<Record<string, Readonly<Record<string, string>>>>

/** An access token, and where it comes from. */
export interface Token {
  readonly value: string
  readonly source: string
}

/** The variable that holds a token, which no origin is known of. */
export const ENVIRONMENT_TOKEN = "AGENTOS_TOKEN"

const read = async (host: Host): Promise<Credentials> => {
  const path = credentialsPath(host)
  const value = await readJsonIfAny(path)
  if (value === undefined) return {}
  await requirePrivate(path)
  const profiles = isRecord(value) && isRecord(value["profiles"]) ? value["profiles"] : undefined
  if (profiles === undefined)
    throw new Failure({ code: "CONFIGURATION", message: `${path} has no profiles. Remove it, and log in again.` })
  return Object.fromEntries(
    Object.entries(profiles).map(([profile, tokens]) => [
      profile,
      Object.fromEntries(
        Object.entries(isRecord(tokens) ? tokens : {}).flatMap(([origin, token]) =>
          typeof token === "string" ? [[origin, token] as const] : []
        )
      )
    ])
  )
}

/** Changes the tokens of a profile, while no other process changes any. */
const change = (host: Host, profile: string, to: (tokens: Credentials[string]) => Credentials[string]): Promise<void> =>
  withFreeLock(host, homeFolder(host), "credentials", async () => {
    const all = await read(host)
    const profiles = { ...all, [profile]: to(all[profile] ?? {}) }
    await writePrivate(credentialsPath(host), `${JSON.stringify({ profiles }, undefined, 2)}\n`)
  })

/** The token for a server: AGENTOS_TOKEN, else what the profile saved for this very origin. */
export const findToken = async (host: Host, profile: string, baseUrl: string): Promise<Token | undefined> => {
  const given = (host.env[ENVIRONMENT_TOKEN] ?? "").trim()
  if (given !== "") return { value: given, source: ENVIRONMENT_TOKEN }
  const saved = (await read(host))[profile]?.[new URL(baseUrl).origin]
  return saved === undefined ? undefined : { value: saved, source: `profile ${profile}` }
}

/** Saves the token that a server gave, or that was checked with it. */
export const saveToken = (host: Host, profile: string, baseUrl: string, token: string): Promise<void> =>
  change(host, profile, (tokens) => ({ ...tokens, [new URL(baseUrl).origin]: token }))

/** Forgets the token of a server; says whether there was one. */
export const forgetToken = async (host: Host, profile: string, baseUrl: string): Promise<boolean> => {
  const { origin } = new URL(baseUrl)
  if ((await read(host))[profile]?.[origin] === undefined) return false
  await change(host, profile, ({ [origin]: _gone, ...others }) => others)
  return true
}
