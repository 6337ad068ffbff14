import { createHmac } from "node:crypto"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import type { Random } from "../../support/Random.ts"
import { ATTACKER_ADDRESSES, type DefenseRig } from "../DefenseRig.ts"
import { HttpConnection, requestBytes } from "../HttpConnection.ts"
import { bytesOf, chance, type Json, mutateJson, mutateText, oddText, several } from "../Mutation.ts"
import type { Flaw } from "../Flaw.ts"
import { fill, type Target } from "./Target.ts"

export interface WebhookCase {
  readonly path: string
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  readonly signature: "valid" | "wrong" | "none"
  /** Sent over the relay's socket, where the answer names one. */
  readonly relay: ReadonlyArray<string>
}

const sid = (random: Random): string =>
  `CA${Array.from({ length: 32 }, () => random.integer(16).toString(16)).join("")}`

const PATHS = [
  "voice",
  "voice",
  "status",
  "status/{{own.callId}}",
  "answer/{{own.callId}}",
  "resume/{{own.callId}}",
  "answer/x"
]
const STATUSES = ["queued", "ringing", "in-progress", "completed", "busy", "failed", "no-answer", "canceled", "unknown"]

const fieldsOf = (random: Random): ReadonlyArray<readonly [string, string]> => {
  const fields: Array<readonly [string, string]> = [
    ["CallSid", sid(random)],
    ["From", "+14155550150"],
    ["To", "{{own.number}}"],
    ["CallStatus", random.pick(STATUSES)],
    ["CallDuration", random.pick(["0", "1", "-1", "1e3", "9999999999", "x"])],
    ["SessionStatus", random.pick(["completed", "ended", "failed", ""])]
  ]
  return several(random, 2, fields, (given) => {
    const place = random.integer(given.length)
    const [name, value] = given[place]!
    const others = given.filter((_, index) => index !== place)
    return random.pick([
      () => others,
      () => [...given, [name, oddText(random)] as const],
      () => [...others, [name, oddText(random)] as const],
      () => [...others, [name, mutateText(random, value)] as const],
      () => [...given, [oddText(random), oddText(random)] as const],
      () => [...others, [name, "x".repeat(random.pick([1_000, 70_000]))] as const]
    ])()
  }) as ReadonlyArray<readonly [string, string]>
}

const relayMessage = (random: Random): string => {
  const valid = random.pick<Json>([
    { type: "setup", sessionId: "VX1", callSid: "CA00" },
    { type: "prompt", voicePrompt: oddText(random).toWellFormed(), last: true },
    { type: "interrupt", utteranceUntilInterrupt: "a", durationUntilInterruptMs: 5 },
    { type: "dtmf", digit: random.pick(["1", "#", "x"]) },
    { type: "error", description: oddText(random).toWellFormed() }
  ])
  const text = JSON.stringify(chance(random, 2) ? valid : mutateJson(random, valid))
  return chance(random, 6) ? mutateText(random, text) : text
}

const generate = (random: Random): WebhookCase => {
  const isCall = chance(random, 8)
  const plain = [
    ["CallSid", sid(random)],
    ["From", "+14155550150"],
    ["To", "{{own.number}}"]
  ] as const
  return {
    path: isCall ? "/webhooks/twilio/voice" : `/webhooks/twilio/${random.pick(PATHS)}`,
    fields: isCall ? plain : fieldsOf(random),
    signature: isCall ? "valid" : random.pick(["valid", "valid", "wrong", "none"] as const),
    relay: isCall ? Array.from({ length: 1 + random.integer(10) }, () => relayMessage(random)) : []
  }
}

const formOf = (fields: WebhookCase["fields"]): URLSearchParams =>
  new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value]))

/** See https://www.twilio.com/docs/usage/security. */
const sign = (secret: string, url: string, fields: ReadonlyArray<readonly [string, string]>): string => {
  const form = formOf(fields)
  const names = [...new Set(form.keys())].toSorted()
  const signed = names.flatMap((name) => [...new Set(form.getAll(name))].toSorted().map((value) => `${name}${value}`))
  return createHmac("sha1", secret)
    .update(url + signed.join(""))
    .digest("base64")
}

const SETUP_MILLIS = 5_000
const QUIET_MILLIS = 150

/** Plays a call over its relay. Resolves to all messages of the service, and its close code. */
const playRelay = async (rig: DefenseRig, url: string, callSid: string, messages: ReadonlyArray<string>) => {
  const signature = sign(rig.carrierToken, url, [])
  const socket = new WebSocket(url, {
    headers: { "x-twilio-signature": signature },
    localAddress: ATTACKER_ADDRESSES[0]
  })
  const heard: Array<string> = []
  let code = 0
  socket.on("error", () => undefined)
  socket.on("message", (data: Buffer) => heard.push(data.toString("utf8")))
  socket.on("close", (closeCode) => (code = closeCode))
  await Promise.race([once(socket, "open").catch(() => undefined), sleep(SETUP_MILLIS, undefined, { ref: false })])
  if (socket.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ type: "setup", sessionId: "VX1", callSid }))
    for (const message of messages) socket.send(message)
    await sleep(QUIET_MILLIS)
  }
  socket.terminate()
  return { text: heard.join("\n"), code }
}

/** The carrier's forms, signed and forged, and messages over a call's relay. */
export const webhookTarget: Target<WebhookCase> = {
  name: "webhook",
  summary: "provider webhooks: signatures, forms, relay messages",
  workers: 2,
  generate,
  open: async ({ count, oracle, rig }) => {
    const connection = new HttpConnection({ ...rig.http, localAddress: ATTACKER_ADDRESSES[0] })
    const post = async (path: string, fields: WebhookCase["fields"], signature: WebhookCase["signature"]) => {
      const body = formOf(fields).toString()
      const signed = sign(signature === "valid" ? rig.carrierToken : "wrong", rig.sandbox.baseUrl + path, fields)
      const bytes = requestBytes(
        {
          method: "POST",
          target: path,
          headers: [
            ["Content-Type", "application/x-www-form-urlencoded"],
            ...(signature === "none" ? [] : [["X-Twilio-Signature", signed] as const])
          ],
          body: bytesOf(body)
        },
        rig.http.host
      )
      count("requests")
      return connection.request(bytes)
    }
    return {
      play: async ({ fields, path, relay, signature }) => {
        const filled = fields.map(([name, value]) => [name, fill(value, rig).toWellFormed()] as const)
        const answer = await post(fill(path, rig), filled, signature)
        const flaws: Array<Flaw> = [...oracle.examineAnswer(answer, { hasEnvelope: answer.body.startsWith("{") })]
        if (signature !== "valid" && answer.status < 400) {
          flaws.push({ rule: "a form that the carrier has not signed is refused", detail: String(answer.status) })
        }
        const url = /url="([^"]+)"/.exec(answer.body)?.[1]?.replaceAll("&amp;", "&")
        if (relay.length === 0 || url === undefined) return flaws
        const callSid = filled[0]?.[1] ?? ""
        const { code, text } = await playRelay(rig, url, callSid, relay)
        count("relay messages", relay.length + 1)
        flaws.push(...oracle.examineText(text))
        if (code === 1011) flaws.push({ rule: "a conversation does not fail on the server's side", detail: text })
        const end = [
          ["CallSid", callSid],
          ["CallStatus", "completed"],
          ["CallDuration", "0"]
        ] as const
        const ended = await post("/webhooks/twilio/status", end, "valid")
        flaws.push(...oracle.examineAnswer(ended, { hasEnvelope: false }))
        return flaws
      },
      close: async () => connection.close()
    }
  }
}
