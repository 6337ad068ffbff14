import { createHmac, randomBytes } from "node:crypto"
import { join } from "node:path"
import { usageError } from "@agentos/node/command-line"
import { homeFolder } from "../config/ConfigFile.ts"
import { privateFolder, readIfExists, requirePrivate, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"

export const SECRET_VARIABLE = "AGENTOS_WEBHOOK_SECRET"
/** `whsec_` and base64 of 24 to 64 bytes, per Standard Webhooks (https://www.standardwebhooks.com). */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/
const PREFIX = "whsec_"

/** Returns the secret, or throws a usage error if it is not one of a webhook. */
export const checkSecret = (secret: string): string => {
  if (SECRET.test(secret)) return secret
  throw usageError("Invalid signing secret: it must begin with whsec_, as agentctl webhook set printed it.")
}

/** Returns the headers of a delivery, as those of event webhooks. */
export const signedHeaders = (secret: string, eventId: string, body: string, now: number) => {
  const timestamp = String(Math.floor(now / 1_000))
  const key = Buffer.from(secret.slice(PREFIX.length), "base64")
  const signature = createHmac("sha256", key).update(`${eventId}.${timestamp}.${body}`).digest("base64")
  return {
    "Content-Type": "application/json",
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`
  }
}

/**
 * Returns the secret that signs forwarded events: that of the environment, else one of this machine, which is created once, so
 * that an endpoint keeps working when the command is started again.
 */
export const forwardingSecret = async (host: Host): Promise<string> => {
  const given = (host.env[SECRET_VARIABLE] ?? "").trim()
  if (given !== "") return checkSecret(given)
  const path = join(homeFolder(host), "forward.secret")
  const stored = await readIfExists(path)
  if (stored !== undefined) {
    await requirePrivate(path)
    return checkSecret(stored.trim())
  }
  const secret = `${PREFIX}${randomBytes(24).toString("base64")}`
  await privateFolder(homeFolder(host))
  await writePrivate(path, `${secret}\n`)
  return secret
}
