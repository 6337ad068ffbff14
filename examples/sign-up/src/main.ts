/** An agent that signs up at a website: it buys a mailbox and reads the one-time code that the website sends. */
import { AgentOs, AgentOsError } from "@agentos/client"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { privateKeyToAccount } from "viem/accounts"
import { startWebsite } from "./website.ts"

const option = { type: "string" } as const
const { sandbox: file, wallet: index = "0" } = parseArgs({ options: { sandbox: option, wallet: option } }).values
const sandboxFile = file ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const sandbox = JSON.parse(readFileSync(sandboxFile, "utf8"))

/** Sends a form and returns the text of the answer. */
const post = async (url: string, form: object): Promise<string> => {
  const headers = { "Content-Type": "application/json" }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(form) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`)
  return text
}

const wallet = privateKeyToAccount(sandbox.wallets[Number(index)].privateKey)
const agent = await AgentOs.connect(sandbox.baseUrl, { wallet, spend: { perCall: "0.25", perDay: "1.00" } })
// The sandbox delivers the website's mail.
const website = await startWebsite((mail) => post(`${sandbox.mail.relayFaultsUrl}/sandbox/mail`, mail))
try {
  // The first run buys the mailbox, and later ones find it.
  const mailbox = await agent.mailboxes.open({ localPart: `agent-${wallet.address.slice(-8)}` })
  console.log(`using ${mailbox.address}, spent ${agent.payments.spent().lastDay} USDT`)
  const start = Date.now()
  console.log(await post(`${website.url}/sign-up`, { email: mailbox.address }))
  // A code of an earlier run has lapsed.
  const sinceSeconds = (Date.now() - start) / 1_000
  const { code } = await mailbox.waitForCode({ from: "no-reply@outside.example", sinceSeconds, timeoutSeconds: 60 })
  console.log(`received the code ${code}`)
  console.log(await post(`${website.url}/confirm`, { email: mailbox.address, code }))
} catch (error) {
  if (!(error instanceof AgentOsError)) throw error
  if (error.code === "TIMEOUT") console.error("The website sent no code. Run this again to sign up anew.")
  else console.error(`${error.code}: ${error.message} (money moved: ${error.moneyMoved})`)
  process.exitCode = 1
} finally {
  website.close()
}
