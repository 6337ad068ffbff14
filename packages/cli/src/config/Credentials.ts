import { Failure } from "@agentos/node/command-line"
import { join } from "node:path"
import { withFreeLock } from "../file/FileLock.ts"
import { isRecord } from "../file/Json.ts"
import { readJsonIfExists, requirePrivate, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"
import { homeFolder } from "./ConfigFile.ts"

/** Tokens by profile and by the origin that issued them. A token is sent to its own origin only. */
type Credentials = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Token {
  readonly value: string
  /** AGENTOS_TOKEN or the profile, for people. */
  readonly source: string
}

/** The variable with a token, whose origin is unknown. */
export const ENVIRONMENT_TOKEN = "AGENTOS_TOKEN"

const pathOf = (host: Host): string => join(homeFolder(host), "credentials.json")

const read = async (host: Host): Promise<Credentials> => {
  const path = pathOf(host)
  const value = await readJsonIfExists(path)
  if (value === undefined) return {}
  await requirePrivate(path)
  const profiles = isRecord(value) && isRecord(value["profiles"]) ? value["profiles"] : undefined
  if (profiles === undefined)
    throw new Failure({
      code: "CONFIGURATION",
      message: `${path}: missing "profiles". Delete the file and log in again.`
    })
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

/** Changes the tokens of a profile under a lock. */
const change = (host: Host, profile: string, to: (tokens: Credentials[string]) => Credentials[string]): Promise<void> =>
  withFreeLock(host, homeFolder(host), "credentials", async () => {
    const all = await read(host)
    const profiles = { ...all, [profile]: to(all[profile] ?? {}) }
    await writePrivate(pathOf(host), `${JSON.stringify({ profiles }, undefined, 2)}\n`)
  })

/** Returns the token for a server: AGENTOS_TOKEN, else the token that the profile saved for this origin. */
export const findToken = async (host: Host, profile: string, baseUrl: string): Promise<Token | undefined> => {
  const given = (host.env[ENVIRONMENT_TOKEN] ?? "").trim()
  if (given !== "") return { value: given, source: ENVIRONMENT_TOKEN }
  const saved = (await read(host))[profile]?.[new URL(baseUrl).origin]
  return saved === undefined ? undefined : { value: saved, source: `profile ${profile}` }
}

export const saveToken = (host: Host, profile: string, baseUrl: string, token: string): Promise<void> =>
  change(host, profile, (tokens) => ({ ...tokens, [new URL(baseUrl).origin]: token }))

/** Deletes the token of a server. Returns whether there was one. */
export const forgetToken = async (host: Host, profile: string, baseUrl: string): Promise<boolean> => {
  const { origin } = new URL(baseUrl)
  if ((await read(host))[profile]?.[origin] === undefined) return false
  await change(host, profile, ({ [origin]: _removed, ...others }) => others)
  return true
}
