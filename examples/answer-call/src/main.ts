/** An agent that answers phone calls without a public address: the turns arrive over its own connection. */
import { AgentOs, AgentOsError, type Call, type Turn } from "@agentos/client"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { privateKeyToAccount } from "viem/accounts"

// The service and the paying wallet: from the environment, or from a sandbox on this machine.
const option = { type: "string" } as const
const { sandbox, wallet: index = "0" } = parseArgs({ options: { sandbox: option, wallet: option } }).values
const { AGENTOS_BASE_URL, AGENTOS_PRIVATE_KEY } = process.env
const sandboxFile = sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const readSandbox = () => JSON.parse(readFileSync(sandboxFile, "utf8"))
const baseUrl: string = AGENTOS_BASE_URL ?? readSandbox().baseUrl
const wallet = privateKeyToAccount(AGENTOS_PRIVATE_KEY ?? readSandbox().wallets[Number(index)].privateKey)

const agent = await AgentOs.connect(baseUrl, {
  wallet,
  // A number costs 5.00 USDT for 30 days, and ten minutes of calls to it cost 3.00.
  spend: { perCall: "5.00", perDay: "8.00" }
})
process.once("SIGINT", () => agent.close()).once("SIGTERM", () => agent.close())

/** In place of a model. Each part is spoken while the next one is generated. */
const speak = async function* ({ signal, text }: Turn): AsyncGenerator<string> {
  yield `You said: ${text} `
  // The caller can interrupt the answer. Then the rest is not generated.
  await sleep(200, undefined, { signal })
  yield "Say bye when that is all."
}

const answer = async (call: Call): Promise<void> => {
  for await (const turn of call.turns()) {
    console.log(`${call.from}: ${turn.text}`)
    if (/\bbye\b/i.test(turn.text)) await turn.hangUp("Goodbye.")
    else await turn.reply(speak(turn))
  }
  // The goodbye belongs to the transcript once the caller has heard it.
  let transcript = await call.transcript()
  while (!transcript.complete) {
    await sleep(200)
    transcript = await call.transcript()
  }
  console.log(`${call.from} had ${transcript.turns.length} turns`)
}

const report = (error: unknown): void => {
  if (!(error instanceof AgentOsError)) throw error
  console.error(`${error.code}: ${error.message} (money moved: ${error.moneyMoved})`)
  process.exitCode = 1
}

const serve = async (): Promise<void> => {
  const number = await agent.phoneNumbers.open({ beginMessage: "Hello, this is an agent." })
  if (number.record.inboundAllowance.remainingSeconds < 60) await number.addMinutes()
  console.log(`waiting for calls to ${number.number}`)
  // Not awaited, so that several callers are answered at the same time.
  for await (const call of number.calls()) void answer(call).catch(report)
}

await serve().catch(report)
agent.close()
