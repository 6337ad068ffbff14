import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MailRig, type RigMailbox } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"
import { type RelayHop, startRelayHop } from "./support/RelayHop.ts"

const { root, title } = await installPeer("mlmmj", "msmtp-mta")
afterAll(() => root?.close())

const LIST = "news@lists.test"
const FOOTER = "-- \nTo leave, write to news+unsubscribe@lists.test\n"

/** The folders of a list, as mlmmj-make-ml creates them. */
const FOLDERS =
  "incoming queue queue/discarded archive text subconf unsubconf bounce control moderation subscribers.d digesters.d nomailsubs.d requeue"

describe.skipIf(root === undefined)(title, () => {
  let rig: MailRig
  let hop: RelayHop
  let mailbox: RigMailbox
  beforeAll(async () => {
    rig = await MailRig.start()
    hop = await startRelayHop(rig.relayPort)
    // mlmmj puts the address into that of the confirmation, whose local part has 64 characters at most.
    mailbox = await rig.mailbox(`m${Math.random().toString(36).slice(2, 8)}`)
    const control: Readonly<Record<string, string>> = {
      listaddress: `${LIST}\n`,
      owner: "owner@lists.test\n",
      relayhost: "127.0.0.1\n",
      smtpport: `${rig.smtpPort}\n`,
      footer: FOOTER,
      customheaders: `List-Id: <news.lists.test>\nList-Post: <mailto:${LIST}>\nList-Unsubscribe: <mailto:news+unsubscribe@lists.test>\n`,
      notmetoo: ""
    }
    for (const folder of FOLDERS.split(" ")) await root!.write(`news/${folder}/.keep`, "")
    await root!.sh("find /peer/news -name .keep -delete")
    for (const [name, text] of Object.entries(control)) await root!.write(`news/control/${name}`, text)
    await root!.sh("cp /usr/share/mlmmj/text.skel/en/* /peer/news/text/ && touch /peer/news/index")
  })
  afterAll(async () => {
    await hop?.close()
    await rig?.close()
  })

  /** Hands a mail to the list, as the mail server of its domain does. */
  const receive = (to: string, raw: string) =>
    root!
      .run(
        ["/usr/bin/mlmmj-receive", "-F", "-L", "/peer/news"],
        `Return-Path: <sender@outside.test>\nX-Original-To: ${to}\n${raw.replaceAll("\r\n", "\n")}`
      )
      .then(({ output, status }) => expect({ output, status }).toMatchObject({ status: 0 }))

  const isTitled = (subject: string) => (message: { readonly subject: string }) => message.subject.includes(subject)

  it("asks to confirm a subscription, and takes the reply to its Reply-To", async () => {
    const request = "news+subscribe@lists.test"
    await mailbox.send(request, { subject: "subscribe", text: "subscribe" })
    await receive(request, (await hop.arrived(request)).raw)
    const question = await mailbox.arrived(isTitled("onfirm"))
    const [confirmation = ""] = question.replyTo
    expect(confirmation).toMatch(/^news\+confsub-[\w.=-]+@lists\.test$/)
    expect(question.text).toContain(confirmation)

    await mailbox.send(confirmation, { subject: `Re: ${question.subject}`, text: "yes" })
    await receive(confirmation, (await hop.arrived(confirmation)).raw)
    await mailbox.arrived(isTitled("Welcome"))
    expect(await root!.sh("cat /peer/news/subscribers.d/*")).toContain(mailbox.address)
  })

  it("sends posts with a footer, and replies through the list join the thread", async () => {
    await root!.sh('/usr/bin/mlmmj-sub -L /peer/news -a "$1" -q -s', "member@outside.test")
    const post = (messageId: string, subject: string, text: string, answered = "") =>
      [
        "From: Member <member@outside.test>",
        `To: ${LIST}`,
        `Subject: ${subject}`,
        `Message-ID: ${messageId}`,
        "Date: Sat, 28 Nov 2026 12:00:00 +0000",
        ...(answered === "" ? [] : [`In-Reply-To: ${answered}`]),
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "",
        text,
        ""
      ].join("\n")
    await receive(LIST, post("<first@outside.test>", "Release 2", "It is out."))
    const first = await mailbox.arrived(isTitled("Release 2"))
    expect(first).toMatchObject({
      from: "member@outside.test",
      messageIdHeader: "<first@outside.test>",
      automatic: "mailing_list",
      mailingList: { listId: "news.lists.test", post: LIST },
      text: expect.stringMatching(/^It is out\.\s+-- \nTo leave, write to/)
    })

    await mailbox.send(LIST, { subject: "Re: Release 2", text: "Thanks!", inReplyTo: first.messageId })
    const own = (await hop.arrived(LIST)).raw
    const ownId = /^Message-ID: (<.*>)/im.exec(own)?.[1] ?? ""
    await receive(LIST, own)
    await receive(LIST, post("<second@outside.test>", "Re: Release 2", "You are welcome.", ownId))
    const second = await mailbox.arrived(({ messageIdHeader }) => messageIdHeader === "<second@outside.test>")
    expect(second.threadId).toBe(first.threadId)
  })
})
