import { createHmac } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"

/** The account at the carrier, and its secret. */
export const ACCOUNT = { sid: `AC${"0".repeat(32)}`, token: "0123456789abcdef0123456789abcdef" }

/** A turn of a caller: when it was said, and when the first words of the answer arrived. */
export interface SpokenTurn {
  readonly text: string
  readonly saidAt: number
  answeredAt: number | undefined
}

/** See https://www.twilio.com/docs/usage/security; for forms without repeated fields. */
const signature = (url: string, form: Readonly<Record<string, string>> = {}): string => {
  const fields = Object.keys(form)
    .toSorted()
    .map((name) => `${name}${form[name]}`)
  return createHmac("sha1", ACCOUNT.token)
    .update(`${url}${fields.join("")}`)
    .digest("base64")
}

/** Between two turns of a caller, in milliseconds: the minimum, and the random addition. */
const PACE_MILLIS = 4_000
const PACE_SPREAD_MILLIS = 2_000
/** Spreads counters evenly over 0 to 1. */
const spread = (count: number): number => (count * 0.618_033_988_75) % 1

const sidOf = (index: number): string => `CA${String(index).padStart(32, "0")}`

interface Said {
  readonly type: string
  readonly token?: string
  readonly last?: boolean
}

/** A caller who speaks every few seconds, simulated by the carrier's requests and socket. */
export class VoiceCaller {
  readonly turns: Array<SpokenTurn> = []
  /** Texts that have ended. */
  finished = 0
  readonly #index: number
  readonly #socket: WebSocket
  #isOver = false

  private constructor(index: number, socket: WebSocket) {
    this.#index = index
    this.#socket = socket
    socket.on("message", (data: Buffer) => this.#hear(performance.now(), JSON.parse(data.toString()) as Said))
    socket.on("error", () => undefined)
    socket.on("close", () => (this.#isOver = true))
  }

  /** Calls, and resolves after the greeting. */
  static async call(baseUrl: string, index: number, to: string): Promise<VoiceCaller> {
    const callSid = sidOf(index)
    const form = { CallSid: callSid, CallStatus: "ringing", From: "+12025550150", To: to, AccountSid: ACCOUNT.sid }
    const url = `${baseUrl}/webhooks/twilio/voice`
    const response = await fetch(url, {
      method: "POST",
      headers: { "X-Twilio-Signature": signature(url, form) },
      body: new URLSearchParams(form)
    })
    const twiml = await response.text()
    const relayUrl = /<ConversationRelay url="([^"]+)"/.exec(twiml)?.[1]
    if (relayUrl === undefined) throw new Error(`the call was not connected: ${response.status} ${twiml}`)
    return VoiceCaller.connect(relayUrl, index)
  }

  /** Opens the socket of a call, and resolves after the greeting. */
  static async connect(relayUrl: string, index: number): Promise<VoiceCaller> {
    const socket = new WebSocket(relayUrl, {
      headers: { "X-Twilio-Signature": signature(relayUrl) },
      perMessageDeflate: false
    })
    const callSid = sidOf(index)
    const caller = new VoiceCaller(index, socket)
    await new Promise((resolve, reject) => {
      socket.once("open", resolve)
      socket.once("error", reject)
    })
    caller.#send({ type: "setup", sessionId: `VX${callSid.slice(2)}`, callSid, accountSid: ACCOUNT.sid })
    await new Promise((resolve) => socket.once("message", resolve))
    return caller
  }

  get isOpen(): boolean {
    return !this.#isOver
  }

  /** Speaks until a time of `performance.now`. */
  async talk(until: number): Promise<void> {
    await sleep(spread(this.#index) * (PACE_MILLIS + PACE_SPREAD_MILLIS))
    for (let count = 0; performance.now() < until && !this.#isOver; count++) {
      const text = `caller ${this.#index} turn ${this.turns.length}`
      this.turns.push({ text, saidAt: performance.now(), answeredAt: undefined })
      this.#send({ type: "prompt", voicePrompt: text, lang: "en-US", last: true })
      await sleep(PACE_MILLIS + spread(this.#index + 7 * count) * PACE_SPREAD_MILLIS)
    }
  }

  hangUp(): void {
    this.#socket.close(1_000)
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  #hear(at: number, { last, token = "", type }: Said): void {
    if (type !== "text") return
    const turn = this.turns.at(-1)
    if (turn !== undefined && turn.answeredAt === undefined && token.includes(turn.text)) turn.answeredAt = at
    if (last === true) this.finished += 1
  }
}
