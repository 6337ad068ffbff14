import { afterAll, beforeAll, describe } from "vitest"
import { MailRig, untilGreeted } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"
import { relaySuite } from "./support/relaySuite.ts"

const { root, title } = await installPeer("postfix")
afterAll(() => root?.close())

const mainConfig = (rig: MailRig) => `
compatibility_level = 3.6
myhostname = relay.peer.test
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtp_dns_support_level = disabled
smtpd_peername_lookup = no
smtpd_relay_restrictions = permit_mynetworks, reject
maillog_file = /var/log/postfix.log
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 1s
maximal_queue_lifetime = 6s
bounce_queue_lifetime = 6s
delay_warning_time = 1s
default_transport = smtp:[127.0.0.1]:${rig.nextHop.port}
relay_transport = smtp:[127.0.0.1]:${rig.nextHop.port}
transport_maps = inline:{ { ${rig.domain} = smtp:[127.0.0.1]:${rig.smtpPort} } }
virtual_alias_maps = inline:{ { alias@forwarding.test = nobody-behind@outside.test } }
virtual_alias_domains =
`

describe.skipIf(root === undefined)(title, () => {
  let rig: MailRig
  beforeAll(async () => {
    rig = await MailRig.start()
    await root!.write("main.cf", mainConfig(rig))
    await root!.sh(
      `cp /peer/main.cf /etc/postfix/main.cf
       postconf -M# smtp/inet
       postconf -M "$1/inet=$1 inet n - n - - smtpd"
       postconf -F '*/*/chroot=n'`,
      String(rig.relayPort)
    )
    root!.start(["postfix", "start-fg"])
    root!.start(["tail", "-F", "/var/log/postfix.log"])
    await untilGreeted(rig.relayPort)
  })
  afterAll(() => rig?.close())

  relaySuite(
    () => ({ rig, log: () => root!.log() }),
    (recipient) => `to=<${recipient}>.* status=sent \\(250`
  )
})
