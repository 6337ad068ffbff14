import { afterAll, beforeAll, describe } from "vitest"
import { MailRig, untilGreeted } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"
import { relaySuite } from "./support/relaySuite.ts"

const { root, title } = await installPeer("exim4-daemon-light")
afterAll(() => root?.close())

const config = (rig: MailRig) => `
primary_hostname = relay.peer.test
qualify_domain = relay.peer.test
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${rig.relayPort}
host_lookup =
rfc1413_query_timeout = 0s
dsn_advertise_hosts = *
tls_advertise_hosts =
keep_environment =
add_environment = PATH=/usr/bin
log_file_path = /var/log/exim4/%slog
acl_smtp_rcpt = accept
acl_smtp_data = accept
delay_warning = 1s
delay_warning_condition = yes
queue_run_in_order
ignore_bounce_errors_after = 10s

begin routers
forward:
  driver = redirect
  domains = forwarding.test
  data = \${if eq{$local_part}{alias}{nobody-behind@outside.test}{:fail: no such alias}}
service:
  driver = manualroute
  domains = ${rig.domain}
  transport = to_service
  route_data = 127.0.0.1
  self = send
outside:
  driver = manualroute
  transport = to_next_hop
  route_list = * 127.0.0.1
  self = send

begin transports
to_service:
  driver = smtp
  port = ${rig.smtpPort}
  hosts_try_fastopen =
  hosts_avoid_tls = *
to_next_hop:
  driver = smtp
  port = ${rig.nextHop.port}
  hosts_try_fastopen =
  hosts_avoid_tls = *

begin retry
* * F,6s,1s
`

describe.skipIf(root === undefined)(title, () => {
  let rig: MailRig
  beforeAll(async () => {
    rig = await MailRig.start()
    await root!.write("exim.conf", config(rig))
    await root!.sh("cp /peer/exim.conf /etc/exim4/exim4.conf && chmod 644 /etc/exim4/exim4.conf")
    root!.start(["exim4", "-bdf", "-q1s"])
    root!.start(["tail", "-F", "/var/log/exim4/mainlog"])
    await untilGreeted(rig.relayPort)
  })
  afterAll(() => rig?.close())

  relaySuite(
    () => ({ rig, log: () => root!.log() }),
    (recipient) => `=> ${recipient} .*C="250`,
    // Exim writes `Action: delivered` also if a next hop without DSN has accepted a mail; RFC 3464 says `relayed`.
    { relayed: "delivered" }
  )
})
