/** The world outside, played by the sandbox: a website that sends one-time codes, and Bob, who writes and calls. */
import { randomInt } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** The fields of `sandbox.json` that this example uses. */
export interface Sandbox {
  readonly baseUrl: string
  readonly mail: { readonly relayFaultsUrl: string; readonly outboxDir: string }
  readonly carrier: { readonly url: string }
  readonly chain: { readonly network: `eip155:${number}`; readonly asset: `0x${string}` }
  readonly wallets: ReadonlyArray<{ readonly privateKey: `0x${string}` }>
}

export const BOB = { address: "bob@outside.example", number: "+12125550150" }

const post = async <Answer>(url: string, body: object): Promise<Answer> => {
  const headers = { "Content-Type": "application/json" }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`)
  return (await response.json()) as Answer
}

/** A website that proves an address with a code. */
export class Website {
  readonly #sandbox: Sandbox
  readonly #codes = new Map<string, string>()

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  async signUp(address: string): Promise<void> {
    const code = String(randomInt(100_000, 1_000_000))
    this.#codes.set(address, code)
    const subject = "Confirm your address"
    const mail = { from: "no-reply@outside.example", to: [address], subject, text: `Your code is ${code}.` }
    await post(`${this.#sandbox.mail.relayFaultsUrl}/sandbox/mail`, mail)
  }

  confirm(address: string, code: string): boolean {
    return this.#codes.get(address) === code
  }
}

/** Bob answers the last mail that arrived for him, with the text of it quoted. */
export const bobReplies = async ({ mail }: Sandbox, to: string, text: string): Promise<void> => {
  const inReplyTo = await lastMailTo(mail.outboxDir, BOB.address)
  const quoted = `${text}\n\nOn Monday, the agent wrote:\n> Hello Bob\n`
  const reply = { from: BOB.address, fromName: "Bob", to: [to], subject: "Re: Our offer", text: quoted, inReplyTo }
  await post(`${mail.relayFaultsUrl}/sandbox/mail`, reply)
}

/** Returns the Message-ID of the newest mail that left the service for an address. */
const lastMailTo = async (directory: string, address: string): Promise<string> => {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".json")).toSorted()
  for (const name of names.toReversed()) {
    const { messageId, rcptTo } = JSON.parse(await readFile(join(directory, name), "utf8"))
    if (rcptTo.includes(address)) return messageId
  }
  throw new Error(`no mail to ${address} was sent`)
}

/** Bob calls a number, says each line after the agent has spoken, and returns what he heard. */
export const bobCalls = async ({ carrier }: Sandbox, to: string, lines: ReadonlyArray<string>) => {
  const { id } = await post<{ id: string }>(`${carrier.url}/sandbox/calls`, { from: BOB.number, to, lines })
  for (;;) {
    const answer = await fetch(`${carrier.url}/sandbox/calls/${id}`)
    const { heard, state } = (await answer.json()) as { heard: ReadonlyArray<string>; state: string }
    if (state === "completed" || state === "rejected") return heard
    await sleep(100)
  }
}
