import type { GatewayMessage, GatewaySession } from "@agentos/client"
import { plainJson, plainLine } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import type { Server } from "../server/Server.ts"
import { callerOf } from "../output/Wording.ts"
import { runShell } from "./EventHandling.ts"
import { follow } from "./Gateway.ts"
import { pause } from "./TailEvent.ts"

type Turn = Extract<GatewayMessage, { readonly type: "call.turn" }>

/** The exit code with which a command ends the call. */
const HANGUP = 10
/** The limit of the service for the text of one reply, in characters. */
const TEXT_LIMIT = 4_000
const RUNNING_LIMIT = 64
/** Lines that are not spoken: one asks for a turn if the person is silent, the other presses keys. */
const SILENCE = /^\[silence ([0-9]{1,2})\]\s*$/u
const PRESS = /^\[press ([0-9*#w]{1,64})\]\s*$/u

const piecesOf = (text: string): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / TEXT_LIMIT) }, (_, index) =>
    text.slice(index * TEXT_LIMIT, (index + 1) * TEXT_LIMIT)
  )

/**
 * Answers the turns of calls with a command, one process per turn: the turn as one line of JSON on standard input, the
 * answer as text on standard output. Each line is spoken when it is complete; `[press 12#]` alone on a line presses keys,
 * and `[silence 10]` asks for a turn if the person says nothing for 10 seconds.
 */
export class VoiceAnswering {
  readonly #context: Context
  readonly #command: string
  /** Ends the commands of turns that are over. */
  readonly #running = new Map<string, AbortController>()

  constructor(context: Context, command: string) {
    this.#context = context
    this.#command = command
  }

  /** Follows the gateway until the program is interrupted. Answers the calls of these numbers, or of all. */
  async follow(client: Server, phoneNumberIds: ReadonlyArray<string> | undefined): Promise<void> {
    const { signal } = this.#context.host
    const stopAll = () => this.#running.forEach((turn) => turn.abort())
    signal.addEventListener("abort", stopAll, { once: true })
    await follow(
      this.#context,
      client,
      {
        mode: "voice",
        phoneNumberIds,
        serve: async (session) => {
          this.#context.output.note("Waiting for calls.")
          for await (const message of session.messages()) {
            if (message.type === "call.turn") void this.#answer(session, message)
            if (message.type === "call.interrupted") this.#running.get(message.turnId)?.abort()
          }
        },
        // Turns come over the socket only.
        serveWithoutSocket: (stop) => pause(REST_MILLIS, stop)
      },
      signal
    )
  }

  async #answer(session: GatewaySession, turn: Turn): Promise<void> {
    const { host, output } = this.#context
    const { callId, turnId } = turn
    if (this.#running.size >= RUNNING_LIMIT)
      return output.warn(`Call ${callId}: ${RUNNING_LIMIT} commands are running.`)
    const ending = new AbortController()
    this.#running.set(turnId, ending)
    const spoken: Array<string> = []
    let rest = ""
    const say = (text: string): void => {
      if (ending.signal.aborted) return
      spoken.push(text)
      const digits = PRESS.exec(text)?.[1]
      const silence = Number(SILENCE.exec(text)?.[1] ?? 0)
      if (silence >= 2 && silence <= 60)
        return void session.send({ type: "call.reply", callId, turnId, silenceSeconds: silence, more: true })
      if (digits !== undefined) return void session.send({ type: "call.reply", callId, turnId, digits, more: true })
      for (const piece of piecesOf(text)) session.send({ type: "call.reply", callId, turnId, text: piece, more: true })
    }
    try {
      const { code, why } = await runShell(host, {
        command: this.#command,
        input: turn,
        env: { AGENTOS_CALL_ID: callId, AGENTOS_TURN_ID: turnId },
        stop: ending.signal,
        onOutput: (text) => {
          const lines = `${rest}${text}`.split("\n")
          rest = lines.pop() ?? ""
          for (const line of lines) if (line.trim() !== "") say(`${line}\n`)
        }
      })
      const isAnswer = code === 0 || code === HANGUP
      if (!ending.signal.aborted) {
        if (rest.trim() !== "") say(rest)
        if (!isAnswer) output.warn(`Call ${callId}: ${why}.`)
        // An answer that began must end, or the call waits for the rest.
        if (isAnswer || spoken.length > 0)
          session.send({ type: "call.reply", callId, turnId, ...(code === HANGUP ? { hangup: true } : {}) })
      }
      this.#print(turn, { text: spoken.join(""), hangup: code === HANGUP, interrupted: ending.signal.aborted })
    } finally {
      this.#running.delete(turnId)
    }
  }

  #print({ callId, from, fromWithheld, turn, turnId }: Turn, answer: Answer): void {
    const { host, output } = this.#context
    if (output.options.json || !host.stdout.isTerminal)
      return output.text(`${plainJson({ callId, turnId, heard: turn.text, ...answer })}\n`)
    const end = answer.interrupted ? " (interrupted)" : answer.hangup ? " (hung up)" : ""
    output.text(
      `${plainLine(`${callerOf(from, fromWithheld)}: ${turn.text}`)}\n${plainLine(`agent: ${answer.text}`)}${end}\n`
    )
  }
}

interface Answer {
  readonly text: string
  readonly hangup: boolean
  readonly interrupted: boolean
}

const REST_MILLIS = 60_000
