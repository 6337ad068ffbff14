import { EXIT, Failure, usageError } from "@agentos/node/command-line"
import type { Settings } from "../config/Settings.ts"
import type { Context } from "../context/Context.ts"
import { PASSWORD_FILE_FLAG, WALLET_FILE_FLAG, walletFlagsOf, yesFlag } from "../context/Flags.ts"
import { asStarted, readSecret } from "../host/Host.ts"
import { defineCommand } from "./Command.ts"
import { clientOf, connect, serverAt } from "./Resources.ts"
import { timeColumn } from "../output/Wording.ts"

const TOKEN = /^at_v1_[0-9A-Za-z]{1,500}$/

/** Reads the token from AGENTOS_TOKEN, standard input or a prompt. Only the prompt can show where it will be sent. */
const readToken = async ({ host }: Context, settings: Settings): Promise<string> => {
  const { ENVIRONMENT_TOKEN } = await import("../config/Credentials.ts")
  const { fromOf, rejectFolderServer } = await import("../config/Settings.ts")
  const { baseUrl } = settings
  const isAsked = (host.env[ENVIRONMENT_TOKEN] ?? "").trim() === "" && host.stdinIsTerminal
  if (!isAsked) rejectFolderServer(settings, "The access token")
  const server = baseUrl === undefined ? "" : ` for ${baseUrl.value} (${fromOf(baseUrl)})`
  return readSecret(host, ENVIRONMENT_TOKEN, `Access token${server}: `)
}

/** Warns that AGENTOS_TOKEN takes precedence over the saved token. */
const warnOfVariable = ({ host, output }: Context, consequence: string): void => {
  if ((host.env["AGENTOS_TOKEN"] ?? "") !== "") output.warn(`AGENTOS_TOKEN is set and ${consequence}.`)
}

export const TOKEN_ROTATE = defineCommand(
  {
    name: "token rotate",
    summary: "Replace the access token of the wallet",
    description:
      "Revokes every access token of the wallet and ends its realtime sessions within 5 s, on every machine. The new token is saved in this profile and not printed. The wallet signs a message; nothing is paid. If the answer is lost: agentctl login --wallet.",
    flags: [yesFlag("Rotate"), WALLET_FILE_FLAG, PASSWORD_FILE_FLAG],
    examples: [{ line: "agentctl token rotate", does: "After the token has leaked" }],
    output: "record",
    json: "{profile, baseUrl, rotated, address}",
    exits: [2, 4, 5, 9]
  },
  async (context, { flags }) => {
    const { confirm } = await import("../payment/Approval.ts")
    const { signIn } = await import("../wallet/SignIn.ts")
    await confirm(context, "Revoke all access tokens of the wallet and end its realtime sessions?", flags.yes)
    const { address, baseUrl, profile } = await signIn(context, "revokeTokens", walletFlagsOf(flags))
    context.output.record({ profile, baseUrl, rotated: true, address }, [
      ["Profile", profile],
      ["Server", baseUrl],
      ["Wallet", address],
      ["Token", "replaced, saved"]
    ])
    warnOfVariable(context, "revoked. Unset it to use the saved token")
  }
)

export const LOGIN = defineCommand(
  {
    name: "login",
    summary: "Save an access token in this profile",
    description:
      "Reads the token from standard input, a prompt or AGENTOS_TOKEN, and checks it with the server before saving it.\nWith --wallet, gets the token of the wallet from the server, for which the wallet signs a message. Nothing is paid. Use it when the token is lost.\nA first purchase saves its token automatically; use login for a token from elsewhere. The token is sent to this server only.",
    flags: [
      { name: "wallet", type: "boolean", summary: "Get the token with a signature of the wallet." },
      WALLET_FILE_FLAG,
      PASSWORD_FILE_FLAG
    ],
    examples: [
      { line: "agentctl login < token.txt", does: "Read the token from a file" },
      { line: "agentctl login --wallet", does: "Recover a lost token" }
    ],
    output: "record",
    json: "{profile, baseUrl, loggedIn}; with --wallet also address",
    exits: [2, 4, 5, 9]
  },
  async (context, { flags }) => {
    if (flags.wallet) {
      const { signIn } = await import("../wallet/SignIn.ts")
      const { address, baseUrl, profile } = await signIn(context, "recoverToken", walletFlagsOf(flags))
      context.output.record({ profile, baseUrl, loggedIn: true, address }, [
        ["Profile", profile],
        ["Server", baseUrl],
        ["Wallet", address],
        ["Token", "recovered, saved"]
      ])
      return warnOfVariable(context, "in use instead of the saved token")
    }
    if (flags["wallet-file"] !== undefined || flags["password-file"] !== undefined)
      throw usageError("--wallet-file and --password-file need --wallet.")
    const { saveToken } = await import("../config/Credentials.ts")
    const { requireBaseUrl, resolveSettings } = await import("../config/Settings.ts")
    const settings = await resolveSettings(context)
    const baseUrl = requireBaseUrl(settings)
    const token = await readToken(context, settings)
    if (!TOKEN.test(token))
      throw usageError(
        "Invalid access token: it must begin with at_v1_. Pass it on standard input or as AGENTOS_TOKEN."
      )
    // The smallest request that needs a token.
    await (await serverAt(context, baseUrl, token)).call("replayEvents", { query: { limit: 1 } })
    const profile = settings.profile.value
    await saveToken(context.host, profile, baseUrl, token)
    context.output.record({ profile, baseUrl, loggedIn: true }, [
      ["Profile", profile],
      ["Server", baseUrl],
      ["Token", "valid, saved"]
    ])
  }
)

export const LOGOUT = defineCommand(
  {
    name: "logout",
    summary: "Remove the access token from this profile",
    description:
      "The token stays valid; it is only removed from this machine. To get it again: agentctl login --wallet.",
    examples: [{ line: "agentctl logout --profile staging", does: "Remove the token of one profile" }],
    output: "record",
    json: "{profile, baseUrl, loggedIn}"
  },
  async (context) => {
    const { host, output } = context
    const { forgetToken } = await import("../config/Credentials.ts")
    const { requireBaseUrl, resolveSettings } = await import("../config/Settings.ts")
    const settings = await resolveSettings(context)
    const baseUrl = requireBaseUrl(settings)
    const profile = settings.profile.value
    const removed = await forgetToken(host, profile, baseUrl)
    output.record({ profile, baseUrl, loggedIn: false }, [
      ["Profile", profile],
      ["Server", baseUrl],
      ["Token", removed ? "removed" : "none saved"]
    ])
    warnOfVariable(context, "still in use")
  }
)

export const WHOAMI = defineCommand(
  {
    name: "whoami",
    summary: "Show the profile, server, wallet and access token in use",
    description:
      "Shows where each setting comes from and checks the token with the server. The token itself is not shown.",
    examples: [{ line: "agentctl whoami --json", does: "For scripts" }],
    output: "record",
    json: "{profile, baseUrl, server, token, wallet}",
    exits: [4, 9]
  },
  async (context) => {
    const { fromOf } = await import("../config/Settings.ts")
    const { findWallet, isOtherWallet, ownerOf, rejectFolderWallet, tokenOfWallet } =
      await import("../wallet/Wallet.ts")
    const { baseUrl, client, profile, settings, token } = await connect(context)
    const wallet = await findWallet(context)
    if (wallet !== undefined) rejectFolderWallet(context, wallet)
    const server = await client.call("describeApi")
    const owner = token === undefined ? undefined : await ownerOf(client)
    const document = {
      profile,
      baseUrl,
      server: { name: server.name, version: server.version, environment: server.environment },
      token: token === undefined ? null : { source: token.source, works: owner !== undefined, wallet: owner ?? null },
      wallet:
        wallet === undefined ? null : { address: wallet.address, source: wallet.source, encrypted: wallet.encrypted }
    }
    context.output.record(document, [
      ["Profile", `${profile} (${fromOf(settings.profile)})`],
      ["Server", `${baseUrl} (from ${settings.baseUrl?.source ?? ""})`],
      ["", `${server.name} API ${server.version}, ${server.environment}`],
      [
        "Token",
        token === undefined ? "none" : `${owner === undefined ? "invalid" : `of ${owner}`} (from ${token.source})`
      ],
      [
        "Wallet",
        wallet === undefined ? "none" : `${wallet.address ?? "address unknown until opened"} (${wallet.source})`
      ]
    ])
    if (token !== undefined && owner === undefined)
      throw new Failure({
        code: "AUTH_REQUIRED",
        exit: EXIT.authentication,
        message: "The server rejected the access token.",
        next: ["agentctl login"]
      })
    if (token !== undefined && owner !== undefined && isOtherWallet(wallet, owner))
      context.output.warn(
        asStarted(
          context.host,
          `The token is of another wallet than the one that pays, so the server refuses its payments, and nothing is charged. Run: ${tokenOfWallet(token, wallet)}`
        )
      )
  }
)

const numberOf = (count: number | null, missing: string): string => count?.toLocaleString("en-US") ?? missing

export const LIMITS = defineCommand(
  {
    name: "limits",
    summary: "Show your quotas of mail and calls, and how much of each is used",
    description:
      "A request above a limit is refused before anything is charged. What an agent may spend is limited by agentctl budget instead.",
    examples: [{ line: "agentctl limits", does: "See how many recipients are left today" }],
    output: "rows",
    json: "{items: [limit], sendingPause, callableCountries}",
    exits: [4]
  },
  async (context) => {
    const data = await (await clientOf(context)).call("listLimits")
    context.output.table(
      data,
      data.items,
      [
        { heading: "LIMIT", value: ({ name }) => name, whole: true },
        { heading: "FOR", value: ({ scope }) => scope, drop: 1 },
        { heading: "USED", value: ({ used }) => used, shown: ({ used }) => numberOf(used, "-"), whole: true },
        { heading: "OF", value: ({ limit }) => limit, shown: ({ limit }) => numberOf(limit, "no limit"), whole: true },
        timeColumn("RESETS", ({ resetsAt }) => resetsAt, 2)
      ],
      "No limits."
    )
  }
)
