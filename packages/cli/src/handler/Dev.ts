import { join } from "node:path"
import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { DEV } from "../command/ToolCommands.ts"
import { changeConfig, checkProfileName, readConfig } from "../config/ConfigFile.ts"
import { ENVIRONMENT_TOKEN, findToken, forgetToken } from "../config/Credentials.ts"
import { walletFolder } from "../config/Home.ts"
import { isLocal } from "../config/Settings.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { privateFolder, writePrivate } from "../file/PrivateFile.ts"
import { type SandboxDescription, startSandbox } from "../sandbox/SandboxProcess.ts"
import { ApiClient } from "../server/ApiClient.ts"

const DEV_PROFILE = "dev"

export const run = async (context: Context, { flags }: InputOf<typeof DEV>): Promise<void> => {
  const { globals, host, output } = context
  const profile = checkProfileName(globals.profile ?? DEV_PROFILE)
  const walletFile = join(walletFolder(host), `${profile}.sandbox.key`)
  await refuseOthers(context, profile, walletFile)
  const sandbox = await startSandbox(context, { port: flags.port, data: flags.data })
  try {
    const { description } = sandbox
    const inUse = await makeProfile(context, profile, walletFile, description)
    await forgetStaleToken(context, profile, description.baseUrl)
    tell(context, { profile, walletFile, inUse }, description)
    const code = await sandbox.ended
    if (!host.signal.aborted) throw new Failure({ code: "FAILED", message: `The sandbox has ended with ${code}.` })
    output.note("The sandbox has ended.")
  } finally {
    sandbox.stop()
    await sandbox.ended
  }
}

/** A profile of the same name that points anywhere but at a sandbox is somebody's own. */
const refuseOthers = async ({ host }: Context, profile: string, walletFile: string): Promise<void> => {
  const { baseUrl, walletFile: other } = (await readConfig(host)).profiles[profile] ?? {}
  const isElsewhere = baseUrl !== undefined && !isLocal(new URL(baseUrl).hostname)
  if (!isElsewhere && (other === undefined || other === walletFile)) return
  throw new Failure({
    code: "EXISTS",
    message: `Profile ${profile} belongs to no sandbox: it ${isElsewhere ? `points at ${baseUrl}` : `has the wallet ${other}`}.`,
    next: ["agentctl dev --profile sandbox"]
  })
}

/** Writes the profile and its wallet; says whether it is the one in use. */
const makeProfile = async (
  { host }: Context,
  profile: string,
  walletFile: string,
  { baseUrl, rpcUrl, wallet }: SandboxDescription
): Promise<boolean> => {
  await privateFolder(walletFolder(host))
  await writePrivate(walletFile, `${wallet.privateKey}\n`)
  let inUse = false
  await changeConfig(host, (config) => {
    const isFirst = Object.keys(config.profiles).every((name) => name === profile)
    inUse = isFirst || config.profile === profile
    return {
      ...config,
      profile: isFirst ? profile : config.profile,
      profiles: { ...config.profiles, [profile]: { baseUrl, walletFile, rpcUrl } }
    }
  })
  return inUse
}

/** A sandbox with new data knows nothing of the tokens of the one before at the same address. */
const forgetStaleToken = async (context: Context, profile: string, baseUrl: string): Promise<void> => {
  const token = await findToken(context.host, profile, baseUrl)
  if (token === undefined || token.source === ENVIRONMENT_TOKEN) return
  try {
    await new ApiClient(context, baseUrl, token.value).call("replayEvents", { query: { limit: 1 } })
  } catch (error) {
    if (!(error instanceof Failure) || error.exit !== EXIT.authentication) throw error
    await forgetToken(context.host, profile, baseUrl)
  }
}

const tell = (
  { output }: Context,
  made: { readonly profile: string; readonly walletFile: string; readonly inUse: boolean },
  { baseUrl, emailDomain, mail, rpcUrl, wallet }: SandboxDescription
): void => {
  const { inUse, profile, walletFile } = made
  const { address } = wallet
  const { host, port } = mail
  output.record({ profile, baseUrl, address, walletFile, rpcUrl, mail: { host, port, domain: emailDomain } }, [
    ["Profile", profile],
    ["Server", baseUrl],
    ["Wallet", `${address}, with play money`],
    ["Mail in", `smtp://${host}:${port}, for ${emailDomain}`]
  ])
  const flag = inUse ? "" : ` --profile ${profile}`
  output.note(`In another terminal: agentctl${flag} mailbox create ada\nCtrl-C ends the sandbox; what is in it stays.`)
}
