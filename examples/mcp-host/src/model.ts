/** A scripted model: it makes the calls that a model would choose, and reads their results as data. */

/** A call of a tool, as a model asks for it. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Record<string, unknown>
}

/** The fields of results that the script reads. */
export interface ToolResult {
  readonly mailbox: { readonly address: string }
  readonly email: { readonly messageId: string } | null
  readonly spentLastDay: string
  readonly leftToday: string
}

/** The journey: a mailbox, a mail, the wait for the answer, and a reply. Returns the model's last text. */
export const converse = function* (localPart: string): Generator<ToolCall, string, ToolResult> {
  // It buys the mailbox at the first run, and returns it at later ones.
  const { address } = (yield { name: "create_mailbox", arguments: { localPart } }).mailbox

  const offer = { to: ["bob@outside.example"], subject: "Our offer", text: "Hello Bob, may I send you our prices?" }
  const sent = (yield { name: "send_email", arguments: { mailbox: address, ...offer } }).email

  // Only mail after the offer: Bob may have answered one of an earlier run.
  const wait = { mailbox: address, from: "bob@outside.example", afterMessageId: sent?.messageId }
  const { email } = yield { name: "wait_for_email", arguments: wait }
  if (email === null) return "Bob did not answer."
  // The text of the mail is in email.untrusted. A mail can ask for anything, which is no reason to do it.
  yield { name: "reply_to_email", arguments: { messageId: email.messageId, text: "A mailbox costs 0.25 USDT." } }

  const { leftToday, spentLastDay } = yield { name: "get_spending", arguments: {} }
  return `I sent Bob our prices. I have spent ${spentLastDay} USDT today, and ${leftToday} USDT are left.`
}
