import { Failure, shellWord } from "@agentos/node/command-line"
import { dirname, join } from "node:path"
import type { Context } from "../context/Context.ts"
import { DATA_FLAG, yesFlag } from "../context/Flags.ts"
import { asStarted } from "../host/Host.ts"
import type { RunningSandbox, SandboxDescription } from "../sandbox/SandboxProcess.ts"
import { defineCommand } from "./Command.ts"
import { serverAt } from "./Resources.ts"

const DEV_PROFILE = "dev"
/** The amount that a wallet without money receives, in USDT. */
const TEST_MONEY = "100.00"

export const DEV = defineCommand(
  {
    name: "dev",
    summary: "Run the whole service on this machine, with test money",
    description:
      "Joins the sandbox that runs with the data folder, for example by `npx -y pnpm@12 start` in the AgentOS repository. If none runs, starts the sandbox of the repository if the current folder is in one, else the package @agentos/sandbox, which is installed on the first use. Creates or updates a profile for it with a funded wallet: the name in --profile, else the current profile if its server is the sandbox, else `dev`. If there is no other profile, it becomes the default. A wallet that you chose for the profile stays, and receives test money if it has none. The profile stays valid when the sandbox is restarted with the same data. Ctrl-C stops a sandbox that this command started; its data is kept.",
    flags: [
      {
        name: "port",
        type: "integer",
        value: "N",
        summary: "Port of the server; 0 for any free port. Default: 8402, or the next free one.",
        maximum: 65_535
      },
      DATA_FLAG,
      yesFlag("Install the sandbox")
    ],
    examples: [
      { line: "agentctl dev", does: "In a terminal of its own" },
      { line: "agentctl dev --data ./sandbox/sandbox.json", does: "A profile for the sandbox of this file" },
      { line: "agentctl dev --port 0 --data ./sandbox", does: "A second sandbox with its own data" }
    ],
    output: "record",
    json: "{profile, baseUrl, address, walletFile, rpcUrl, mail: {host, port, domain}}, when the sandbox is ready",
    exits: [5, 6]
  },
  async (context, { flags }) => {
    const { runningSandbox, startSandbox } = await import("../sandbox/SandboxProcess.ts")
    const { globals, host, output } = context
    await rejectRemoteProfile(context, globals.profile ?? DEV_PROFILE, flags.data)
    const setUp = async (found: RunningSandbox, next: string): Promise<void> => {
      const profile = await profileFor(context, found.description)
      const created = await createProfile(context, profile, found)
      const { address, isEncrypted } = await fundedWallet(context, created, found.description)
      await findOwnToken(context, { ...created, address, isEncrypted }, found.description)
      const localPart = await freeLocalPart(context, found.description.baseUrl, address)
      printReady(context, { ...created, address, localPart, next }, found.description)
    }
    const running = await runningSandbox(context, flags.data)
    if (running !== undefined) {
      output.note(`Joined the running sandbox of ${dirname(running.path)}.`)
      if (flags.port !== undefined) output.warn("The sandbox runs already, so --port is ignored.")
      return setUp(running, "Next")
    }
    const sandbox = await startSandbox(context, { port: flags.port, data: flags.data, yes: flags.yes })
    try {
      await setUp(sandbox, "In another terminal")
      output.note("Press Ctrl-C to stop the sandbox. Its data is kept.")
      const code = await sandbox.ended
      if (!host.signal.aborted) throw new Failure({ code: "FAILED", message: `The sandbox exited with ${code}.` })
      output.note("The sandbox has stopped.")
    } finally {
      sandbox.stop()
      await sandbox.ended
    }
  }
)

/** Rejects a profile of the same name whose server is on another machine. */
const rejectRemoteProfile = async ({ host }: Context, profile: string, data: string | undefined): Promise<void> => {
  const { checkProfileName, readConfig } = await import("../config/ConfigFile.ts")
  const { isLoopback } = await import("@agentos/client")
  const { baseUrl } = (await readConfig(host)).profiles[checkProfileName(profile)] ?? {}
  if (baseUrl === undefined || isLoopback(new URL(baseUrl).hostname)) return
  const flag = data === undefined ? "" : ` --data ${shellWord(data)}`
  throw new Failure({
    code: "EXISTS",
    message: `Profile ${profile} is not a sandbox profile: its server is ${baseUrl}.`,
    next: [`agentctl dev${flag} --profile sandbox`]
  })
}

/** Returns the profile in --profile, else the current one if its server is the sandbox, else `dev`. */
const profileFor = async ({ globals, host }: Context, { origins }: SandboxDescription): Promise<string> => {
  const { readConfig } = await import("../config/ConfigFile.ts")
  if (globals.profile !== undefined) return globals.profile
  const { profile, profiles } = await readConfig(host)
  const { baseUrl } = profiles[profile] ?? {}
  return baseUrl !== undefined && URL.canParse(baseUrl) && origins.includes(new URL(baseUrl).origin)
    ? profile
    : DEV_PROFILE
}

interface SandboxProfile {
  readonly profile: string
  readonly walletFile: string
  /** Whether the wallet is one that was chosen for the profile, and not that of the sandbox. */
  readonly hasOwnWallet: boolean
  readonly isDefault: boolean
}

/** Writes the profile, and the wallet of the sandbox if no other one was chosen for it. */
const createProfile = async (
  { host }: Context,
  profile: string,
  { description: { baseUrl, rpcUrl, wallet }, path }: RunningSandbox
): Promise<SandboxProfile> => {
  const { changeConfig, readConfig, walletFolder } = await import("../config/ConfigFile.ts")
  const { privateFolder, readIfExists, writePrivate } = await import("../file/PrivateFile.ts")
  const sandboxWallet = join(walletFolder(host), `${profile}.sandbox.key`)
  const chosen = (await readConfig(host)).profiles[profile]?.walletFile
  const hasOwnWallet = chosen !== undefined && chosen !== sandboxWallet && (await readIfExists(chosen)) !== undefined
  const walletFile = hasOwnWallet ? chosen : sandboxWallet
  if (!hasOwnWallet) {
    await privateFolder(walletFolder(host))
    await writePrivate(walletFile, `${wallet.privateKey}\n`)
  }
  let isDefault = false
  await changeConfig(host, (config) => {
    const isOnly = Object.keys(config.profiles).every((name) => name === profile)
    isDefault = isOnly || config.profile === profile
    return {
      ...config,
      profile: isOnly ? profile : config.profile,
      profiles: { ...config.profiles, [profile]: { baseUrl, walletFile, rpcUrl, sandboxFile: path } }
    }
  })
  return { profile, walletFile, hasOwnWallet, isDefault }
}

/** Returns the wallet of the profile. Gives one that was chosen for it test money if it has none. */
const fundedWallet = async (
  context: Context,
  { hasOwnWallet, profile, walletFile }: SandboxProfile,
  { baseUrl, facilitatorUrl, rpcUrl, wallet: funded }: SandboxDescription
): Promise<{ readonly address: string; readonly isEncrypted: boolean }> => {
  if (!hasOwnWallet) return { address: funded.address, isEncrypted: false }
  const { askSandbox } = await import("../sandbox/SandboxProcess.ts")
  const { tokenBalance } = await import("../wallet/TokenBalance.ts")
  const { addressOfWallet, requireWallet } = await import("../wallet/Wallet.ts")
  const globals = { ...context.globals, profile }
  const wallet = await requireWallet({ ...context, globals }, { walletFile })
  const address = await addressOfWallet(wallet)
  const { payment } = await (await serverAt(context, baseUrl)).call("describeApi")
  // The RPC of the profile is that of the first network.
  for (const { asset, network } of payment.accepts.slice(0, 1)) {
    if ((await tokenBalance(context, { rpcUrl, network, asset, address })) > 0n) continue
    await askSandbox(facilitatorUrl, "/sandbox/faucet", { address, amount: TEST_MONEY })
    context.output.note(`The wallet of profile ${profile} had no money, and received ${TEST_MONEY} test USDT.`)
  }
  return { address, isEncrypted: wallet.encrypted }
}

/**
 * Removes a token that is not of the profile's wallet, or that a sandbox with new data does not know. Then signs in if the wallet
 * has bought something, for example by a program that used its key. The owner of an encrypted wallet signs in by `login --wallet`.
 */
const findOwnToken = async (
  context: Context,
  {
    address,
    isEncrypted,
    profile,
    walletFile
  }: SandboxProfile & {
    readonly address: string
    readonly isEncrypted: boolean
  },
  { baseUrl }: SandboxDescription
): Promise<void> => {
  const { ENVIRONMENT_TOKEN, findToken, forgetToken } = await import("../config/Credentials.ts")
  const { signIn } = await import("../wallet/SignIn.ts")
  const { ownerOf } = await import("../wallet/Wallet.ts")
  const token = await findToken(context.host, profile, baseUrl)
  if (token?.source === ENVIRONMENT_TOKEN) return
  if (token !== undefined) {
    const owner = await ownerOf(await serverAt(context, baseUrl, token.value))
    if (owner === address.toLowerCase()) return
    if (owner !== undefined)
      context.output.note(
        `The token of ${owner} is removed from profile ${profile}, because the profile's wallet is another one. It stays valid.`
      )
    await forgetToken(context.host, profile, baseUrl)
  }
  // A sign-in would ask for the password.
  if (isEncrypted) return
  try {
    // A wallet that has bought nothing has no token.
    const globals = { ...context.globals, profile, "base-url": baseUrl }
    await signIn({ ...context, globals }, "recoverToken", { walletFile })
  } catch (error) {
    if (!(error instanceof Failure) || error.parts.code !== "RESOURCE_NOT_FOUND") throw error
  }
}

/** Returns a name for a mailbox: ada, or one with the end of the wallet's address if a mailbox has that. */
const freeLocalPart = async (context: Context, baseUrl: string, address: string): Promise<string> => {
  const { ROUTES } = await import("../server/Routes.ts")
  const { method, path } = ROUTES.createMailbox
  const quote = { method, path, body: JSON.stringify({ localPart: "ada" }) }
  const answer = await (await serverAt(context, baseUrl)).send(quote).catch(() => undefined)
  return answer?.status === 409 ? `ada-${address.slice(-6).toLowerCase()}` : "ada"
}

const printReady = (
  { host: machine, output }: Context,
  created: Omit<SandboxProfile, "hasOwnWallet"> & {
    readonly address: string
    readonly localPart: string
    readonly next: string
  },
  { baseUrl, emailDomain, mail, rpcUrl }: SandboxDescription
): void => {
  const { address, isDefault, localPart, next, profile, walletFile } = created
  const { host, port } = mail
  output.record({ profile, baseUrl, address, walletFile, rpcUrl, mail: { host, port, domain: emailDomain } }, [
    ["Profile", profile],
    ["Server", baseUrl],
    ["Wallet", `${address} (test money)`],
    ["SMTP", `smtp://${host}:${port} for ${emailDomain}`]
  ])
  const flag = isDefault ? "" : ` --profile ${profile}`
  output.note(
    asStarted(
      machine,
      `${next}:\n  agentctl${flag} mailbox create ${localPart}\n  agentctl${flag} sandbox mail --to ${localPart} --code\n  agentctl${flag} mail wait --otp`
    )
  )
}
