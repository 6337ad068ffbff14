import { AgentOsError, messageOf, type MoneyMoved } from "../AgentOsError.ts"
import { isRecord } from "../Encoding.ts"
import type { Http } from "../http/Http.ts"
import { sendRepeatedly } from "../http/Repetition.ts"
import { dataOf, errorOf } from "../http/WireError.ts"
import type { Settings } from "../Options.ts"
import { messageIn, signMessage } from "./SignIn.ts"

/** The access token of the wallet at this server. */
export class Tokens {
  readonly #settings: Settings
  readonly #http: Http
  readonly #key: string
  #signingIn: Promise<string | undefined> | undefined

  constructor(settings: Settings, http: Http) {
    this.#settings = settings
    this.#http = http
    this.#key = `${settings.baseUrl} ${settings.wallet?.address ?? ""}`.trim()
  }

  async find(): Promise<string | undefined> {
    try {
      return (await this.#settings.tokens.get(this.#key)) ?? undefined
    } catch (error) {
      throw tokensFailed("get", error)
    }
  }

  /** Returns the token; signs in without one. Undefined if the wallet has bought nothing here. */
  async recover(): Promise<string | undefined> {
    return (await this.find()) ?? (await this.renew())
  }

  /** Like `recover`, but throws AUTH_REQUIRED instead. */
  async require(): Promise<string> {
    const token = await this.recover()
    if (token !== undefined) return token
    throw new AgentOsError({
      code: "AUTH_REQUIRED",
      message: "There is no access token. Buy a mailbox or a number first, or pass it in tokens."
    })
  }

  /**
   * Signs in for a token, once for concurrent callers. Undefined without a wallet that may sign in, or if it has bought nothing
   * here.
   */
  async renew(): Promise<string | undefined> {
    if (this.#settings.wallet === undefined || !this.#settings.signIn) return undefined
    this.#signingIn ??= this.#signIn().finally(() => (this.#signingIn = undefined))
    return this.#signingIn
  }

  async #signIn(): Promise<string | undefined> {
    try {
      await this.signIn("/api/v1/auth/token")
    } catch (error) {
      if (error instanceof AgentOsError && error.code === "RESOURCE_NOT_FOUND") return undefined
      throw error
    }
    return this.find()
  }

  /** Signs in with the wallet at the path of an operation, keeps the token of the answer, and returns its data. */
  async signIn(path: string): Promise<Readonly<Record<string, unknown>>> {
    const { baseUrl, wallet } = this.#settings
    if (wallet === undefined)
      throw new AgentOsError({
        code: "WALLET_REQUIRED",
        message: "Signing in needs a wallet. Pass one to AgentOs.connect."
      })
    // First, because a message is valid for minutes, and a person may have to type a password.
    const account = await wallet.open()
    const challenge = await sendRepeatedly(this.#settings, this.#http, { method: "POST", path }, { isRepeatable: true })
    const header = challenge.status === 402 ? challenge.headers.get("payment-required") : null
    if (header === null) throw errorOf(challenge)
    const signed = await signMessage(messageIn(header, new URL(`${baseUrl}${path}`)), account)
    // The first sign-in replaces the token of the first payment, unless it carries it.
    const token = await this.find()
    const data = dataOf(await this.#http.send({ method: "POST", path, token, headers: { "SIGN-IN-WITH-X": signed } }))
    await this.keep(data)
    return data
  }

  /** Stores the access token of an answer, if it has one. `moneyMoved`: by the call that it answers. */
  async keep({ authentication }: Readonly<Record<string, unknown>>, moneyMoved: MoneyMoved = "no"): Promise<void> {
    const token = isRecord(authentication) ? authentication["accessToken"] : undefined
    if (typeof token !== "string") return
    try {
      await this.#settings.tokens.set(this.#key, token)
    } catch (error) {
      throw tokensFailed("set", error, moneyMoved)
    }
  }
}

const tokensFailed = (method: "get" | "set", cause: unknown, moneyMoved: MoneyMoved = "no"): AgentOsError => {
  if (cause instanceof AgentOsError) return cause
  const paid =
    moneyMoved === "yes" ? " The call was paid: make it again for its result, which is not charged again." : ""
  return new AgentOsError({
    code: "TOKENS_FAILED",
    message: `tokens.${method} failed: ${messageOf(cause)}.${paid}`,
    moneyMoved,
    cause
  })
}
