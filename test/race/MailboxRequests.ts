import type { MailboxFields, Reply, Request } from "../support/Agent.ts"
import type { Wallet } from "./Wallet.ts"

export const createMailbox = (localPart: string): Request => ({ path: "/api/v1/email/mailboxes", body: { localPart } })

export const updateMailbox = (mailboxId: string, displayName: string): Request => ({
  path: "/api/v1/email/mailboxes/update",
  body: { mailboxId, displayName }
})

export const deleteMailbox = (mailboxId: string): Request => ({
  path: "/api/v1/email/mailboxes/delete",
  body: { mailboxId }
})

export const sendMessage = (wallet: Wallet, recipient: string): Request => {
  if (wallet.mailbox === undefined) throw new Error(`${wallet.address} has no mailbox to send from`)
  return {
    path: "/api/v1/email/messages/send",
    body: { mailboxId: wallet.mailbox.mailboxId, to: [recipient], subject: recipient, text: "One of a race." }
  }
}

/** What the answer to a creation brings. */
export const createdBy = (reply: Reply): { readonly mailbox: MailboxFields; readonly accessToken: string } => {
  const { authentication, mailbox } = reply.body.data as unknown as {
    readonly mailbox: MailboxFields
    readonly authentication: { readonly accessToken: string }
  }
  return { mailbox, accessToken: authentication.accessToken }
}
