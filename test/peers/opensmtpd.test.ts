import { afterAll, beforeAll, describe } from "vitest"
import { MailRig, untilGreeted } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"
import { relaySuite } from "./support/relaySuite.ts"

const { root, title } = await installPeer("opensmtpd")
afterAll(() => root?.close())

const config = (rig: MailRig) => `
smtp max-message-size 35M
queue ttl 6s
bounce warn-interval 1s
listen on 127.0.0.1 port ${rig.relayPort} hostname relay.peer.test
table forwarding { "alias@forwarding.test" = "nobody-behind@outside.test" }
action "service" relay host "smtp+notls://127.0.0.1:${rig.smtpPort}"
action "outside" relay host "smtp+notls://127.0.0.1:${rig.nextHop.port}"
action "forward" forward-only virtual <forwarding>
match from any for domain "${rig.domain}" action "service"
match from any for domain "forwarding.test" action "forward"
match from any for any action "outside"
`

describe.skipIf(root === undefined)(title, () => {
  let rig: MailRig
  beforeAll(async () => {
    rig = await MailRig.start()
    await root!.write("smtpd.conf", config(rig))
    root!.start(["smtpd", "-d", "-f", "/peer/smtpd.conf"])
    await untilGreeted(rig.relayPort)
  })
  afterAll(() => rig?.close())

  relaySuite(
    () => ({ rig, log: () => root!.log() }),
    (recipient) => `to=<${recipient}> .*result="Ok"`,
    // It retries after minutes only, and an expired mail is found then.
    { canExpire: false }
  )
})
