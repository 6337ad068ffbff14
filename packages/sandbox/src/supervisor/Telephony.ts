import { randomBytes, X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { openCertificateAuthority } from "../webhook/CertificateAuthority.ts"
import type { DataDirectory } from "./DataDirectory.ts"
import { explain, StartRefused } from "./Failure.ts"
import { keepOnce } from "./ServerFiles.ts"

/** An agent on this machine that servers may ask, though its address is no public one. */
export interface AllowedWebhook {
  /** As it stands in the agent's address, without brackets. */
  readonly host: string
  readonly port: number
  /** The path of a PEM file: the authority behind the agent's certificate, or that certificate. */
  readonly caFile: string
}

/** What servers, carrier and agent have to know of each other. */
export interface Telephony {
  /** The servers' account at the carrier. */
  readonly accountSid: string
  readonly authToken: string
  /** The path of the certificate authority of the sandbox's own agent. */
  readonly agentCaFile: string
  /** The sandbox's own agent, and the tester's. */
  readonly allowed: ReadonlyArray<AllowedWebhook>
}

/** Makes what is missing: once, so that the account and the authority outlive a run. */
export const layOutTelephony = async (
  data: DataDirectory,
  agent: Pick<AllowedWebhook, "host" | "port">,
  allowed: AllowedWebhook | undefined
): Promise<Telephony> => {
  const account = keepOnce(
    join(data.carrier, "account"),
    async () => `AC${randomBytes(16).toString("hex")}:${randomBytes(16).toString("hex")}`
  )
  // The servers read the authority when they start, which may be before the agent does.
  const { caFile } = await openCertificateAuthority(data.agent)
  const [accountSid = "", authToken = ""] = (await account).split(":")
  return {
    accountSid,
    authToken,
    agentCaFile: caFile,
    allowed: [{ ...agent, caFile }, ...(allowed === undefined ? [] : [allowed])]
  }
}

/** Fails with `StartRefused` unless the file holds a certificate: servers would end over it, or trust nobody. */
export const checkAllowedWebhook = async ({ caFile }: AllowedWebhook): Promise<void> => {
  const pem = await readFile(caFile).catch((error: unknown) => {
    throw new StartRefused(`The file of --allow-webhook-ca can't be read: ${explain(error)}`)
  })
  try {
    void new X509Certificate(pem)
  } catch {
    throw new StartRefused(`The file of --allow-webhook-ca holds no PEM certificate: ${caFile}`)
  }
}
