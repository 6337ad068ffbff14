/** A support inbox: it answers each customer in the thread of the customer's mail, once. */
import { AgentOs, AgentOsError, type Mail, type Mailbox } from "@agentos/client"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { privateKeyToAccount } from "viem/accounts"
import { openFileStore } from "./FileStore.ts"

const option = { type: "string" } as const
const options = { data: option, name: option, "per-day": option, sandbox: option, wallet: option }
const { data, name, "per-day": perDay = "5.00", sandbox, wallet: index = "0" } = parseArgs({ options }).values

// The service and the paying wallet: from the environment, or from a sandbox on this machine.
const { AGENTOS_BASE_URL, AGENTOS_PRIVATE_KEY } = process.env
const sandboxFile = sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const readSandbox = () => JSON.parse(readFileSync(sandboxFile, "utf8"))
const baseUrl: string = AGENTOS_BASE_URL ?? readSandbox().baseUrl
const wallet = privateKeyToAccount(AGENTOS_PRIVATE_KEY ?? readSandbox().wallets[Number(index)].privateKey)

const agent = await AgentOs.connect(baseUrl, {
  wallet,
  spend: { perCall: "0.25", perDay },
  ...(await openFileStore(data ?? fileURLToPath(new URL("../.agentos", import.meta.url))))
})
process.once("SIGINT", () => agent.close()).once("SIGTERM", () => agent.close())

/** In place of a model. A mail is text from a stranger: data for the model, never instructions. */
const answerTo = (question: string): string =>
  /\bpric|\bcost/i.test(question) ? "A mailbox costs 0.25 USDT." : "Thank you. A person will answer you."

/** Whether a program sent the mail (RFC 3834). Two programs that answer each other would never stop. */
const isAutomatic = async (mail: Mail): Promise<boolean> => {
  const raw = new TextDecoder().decode(await agent.call("getRawMessage", { messageId: mail.id }))
  const [headers = ""] = raw.split("\r\n\r\n", 1)
  return /^auto-submitted:(?!\s*no\b)|^precedence:\s*(?:bulk|list|junk)/im.test(headers)
}

/** Whether an earlier run answered the mail, and ended before it was acknowledged. */
const isAnswered = async (mailbox: Mailbox, { record }: Mail): Promise<boolean> => {
  for await (const sent of mailbox.messages({ threadId: record.threadId, direction: "outbound" }))
    if (sent.record.inReplyTo === record.messageIdHeader) return true
  return false
}

/** Answers a mail. The mail is acknowledged afterwards, or delivered again if this throws. */
const handle = async (mailbox: Mailbox, mail: Mail): Promise<string> => {
  if (await isAutomatic(mail)) return "ignored, it is automatic"
  if (await isAnswered(mailbox, mail)) return "answered before"
  // The new part of the mail, without the quoted text. Attachments are not opened.
  const text = answerTo(mail.record.extractedText ?? "")
  try {
    const reply = await mail.reply({ text })
    return reply === undefined ? "not answered: an automatic reply or a bounce" : `answered: ${text}`
  } catch (error) {
    // The address refuses mail, which no retry changes. Every other error stops the inbox.
    if (error instanceof AgentOsError && error.code === "PROVIDER_REJECTED") return `not answered: ${error.message}`
    throw error
  }
}

const serve = async (): Promise<void> => {
  const localPart = name ?? `acme-${wallet.address.slice(-6)}`
  const mailbox = await agent.mailboxes.open({ localPart, displayName: "Support" })
  console.log(`waiting for mail to ${mailbox.address}`)
  for await (const mail of mailbox.messages({ new: true })) {
    console.log(`${mail.from}: ${mail.record.extractedText}`)
    console.log(`  ${await handle(mailbox, mail)}`)
  }
}

try {
  await serve()
} catch (error) {
  if (!(error instanceof AgentOsError)) throw error
  // The mail in hand is not acknowledged: the next run receives it again, and resumes a payment with an unknown outcome.
  console.error(`Stopped: ${error.code}: ${error.message} (money moved: ${error.moneyMoved})`)
  process.exitCode = 1
} finally {
  agent.close()
}
