import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MailRig } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"
import { type RelayHop, startRelayHop } from "./support/RelayHop.ts"

const { root, title } = await installPeer("dovecot-sieve", "dovecot-core")
afterAll(() => root?.close())

const CONFIG = `
base_dir = /run/dovecot-peer
log_path = /dev/stderr
mail_location = maildir:~/mail
first_valid_uid = 1
hostname = mx.outside.test
postmaster_address = postmaster@outside.test
sendmail_path = /peer/sendmail
lda_mailbox_autocreate = yes
recipient_delimiter = +
protocol lda {
  mail_plugins = sieve quota
}
plugin {
  quota = maildir:User quota
  quota_rule = *:storage=1M
  sieve = file:~/script.sieve
}
`

/** Stores the envelope and the mail that Dovecot sends. */
const SENDMAIL = `#!/bin/sh
file=$(mktemp /peer/sent/XXXXXX)
cat > "$file"
printf '%s\\n' "$@" > "$file.arguments"
mv "$file" "$file.eml"
`

const SCRIPTS = {
  vacation: 'require ["vacation"]; vacation :days 1 :subject "Away" "I am away until Monday.";',
  notice:
    'require ["vacation"]; vacation :mime text:\nContent-Type: text/plain; charset=utf-8\n\nIch bin im Urlaub. Grüße!\n.\n;',
  reject: 'require ["reject"]; reject "I do not accept mail from this address.";',
  full: "keep;"
} as const

describe.skipIf(root === undefined)(title, () => {
  let rig: MailRig
  let hop: RelayHop
  beforeAll(async () => {
    rig = await MailRig.start()
    hop = await startRelayHop(rig.relayPort)
    await root!.write("dovecot.conf", CONFIG)
    await root!.write("sendmail", SENDMAIL, 0o755)
    for (const [user, script] of Object.entries(SCRIPTS)) await root!.write(`home/${user}/script.sieve`, `${script}\n`)
    await root!.sh("mkdir -p /peer/sent && chown -R nobody:nogroup /peer/sent /peer/home")
  })
  afterAll(async () => {
    await hop?.close()
    await rig?.close()
  })

  /** Delivers the mail that the service sent to a user, and passes on to the service what Dovecot answers. */
  const deliverTo = async (user: string, recipient = `${user}@outside.test`) => {
    const { mailFrom, raw } = await hop.arrived(recipient)
    const asUser = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    const environment = ["env", `USER=${user}`, `HOME=/peer/home/${user}`]
    const lda = ["/usr/lib/dovecot/dovecot-lda", "-c", "/peer/dovecot.conf", "-f", mailFrom, "-a", recipient]
    const { output, status } = await root!.run([...asUser, ...environment, ...lda], raw)
    const sent = await root!.sh(
      `for file in /peer/sent/*.eml; do [ -e "$file" ] || continue; base64 -w0 "$file"; echo; base64 -w0 "\${file%.eml}.arguments"; echo; rm "$file"; done`
    )
    const [mail = "", given = ""] = sent
      .trim()
      .split("\n")
      .map((line) => Buffer.from(line, "base64").toString())
    if (mail === "") return { status, output, envelope: undefined, mail }
    const words = given.trim().split("\n")
    const from = words[words.indexOf("-f") + 1]!.replace(/^<(.*)>$/, "$1")
    const envelope = { from, to: words.slice(words.lastIndexOf("--") + 1).map((to) => to.replace(/^<(.*)>$/, "$1")) }
    await rig.submitRaw(envelope, mail)
    return { status, output, envelope, mail }
  }

  it("answers with a vacation reply, which joins the thread as an automatic mail", async () => {
    const mailbox = await rig.mailbox()
    const messageId = await mailbox.send("vacation@outside.test")
    const { envelope, output } = await deliverTo("vacation")
    expect({ envelope, output }).toMatchObject({ envelope: { from: "" } })
    expect(envelope?.to[0]).toMatch(/^bounces\+/)
    const { status, threadId } = await mailbox.message(messageId)
    expect(await mailbox.arrived()).toMatchObject({
      from: "vacation@outside.test",
      subject: "Away",
      text: expect.stringContaining("I am away until Monday."),
      automatic: "auto_replied",
      threadId
    })
    expect(status).toBe("sent")
    expect(await mailbox.suppressed()).not.toContain("vacation@outside.test")
  })

  it("answers to an address with a tag, in UTF-8", async () => {
    const mailbox = await rig.mailbox()
    const messageId = await mailbox.send("notice+tag@outside.test")
    await deliverTo("notice", "notice+tag@outside.test")
    expect(await mailbox.arrived()).toMatchObject({
      text: expect.stringContaining("Ich bin im Urlaub. Grüße!"),
      automatic: "auto_replied",
      threadId: (await mailbox.message(messageId)).threadId
    })
  })

  it("rejects a mail by Sieve, which counts as a bounce and suppresses no address", async () => {
    const mailbox = await rig.mailbox()
    const messageId = await mailbox.send("reject@outside.test")
    const { envelope, output } = await deliverTo("reject")
    expect({ envelope, output }).toMatchObject({ envelope: { from: "" } })
    expect(await mailbox.settled(messageId)).toMatchObject([
      { status: "bounced", reason: expect.stringContaining("I do not accept mail from this address.") }
    ])
    expect(await mailbox.suppressed()).not.toContain("reject@outside.test")
  })

  it("rejects a mail that exceeds the quota, which counts as a bounce and suppresses no address", async () => {
    const mailbox = await rig.mailbox()
    const content = Buffer.alloc(2 * 1024 * 1024, "x").toString("base64")
    const attachments = [{ filename: "large.bin", contentType: "application/octet-stream", contentBase64: content }]
    const messageId = await mailbox.send("full@outside.test", { attachments })
    const { envelope, output } = await deliverTo("full")
    expect({ envelope, output }).toMatchObject({ envelope: { from: "" } })
    expect(await mailbox.settled(messageId)).toMatchObject([
      { status: "bounced", reason: expect.stringMatching(/quota/i) }
    ])
    expect(await mailbox.suppressed()).not.toContain("full@outside.test")
  })
})
