import { openCertificateAuthority, readChainDescription } from "@agentos/sandbox"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createServer, type TLSSocket } from "node:tls"
import { generatePrivateKey } from "viem/accounts"
import { Agent, freshName, type MailboxFields } from "../../support/Agent.ts"
import { PhoneCarrier } from "../../support/PhoneCarrier.ts"
import { type CallFields, dataOf, PhoneCustomer, type Purchase } from "../../support/PhoneCustomer.ts"
import { Treasury } from "../../support/Treasury.ts"
import { deliverMail, type DefenseRig } from "../DefenseRig.ts"
import type { RigServer } from "../rigServerMain.ts"
import { type Attack, type AttackStage, inParallel } from "./Attack.ts"
import { deliverOver, mailOf } from "./SmtpAttacks.ts"

const WEBHOOK = "/api/v1/events/webhook"
/** Hosts of the attacker. The service sends at most 64 requests to one host at a time. */
const HOSTS = 5

/** Servers of tenants, on this machine. */
interface Endpoints {
  /** URLs of different hosts. */
  readonly urls: ReadonlyArray<string>
  readonly endpoints: RigServer["endpoints"]
  readonly close: () => Promise<void>
}

/** Opens TLS servers. Each connection is passed to the function of its server. */
const openEndpoints = async (serve: ReadonlyArray<(socket: TLSSocket) => void>): Promise<Endpoints> => {
  const directory = await mkdtemp(join(tmpdir(), "agentos-endpoints-"))
  const { caFile, certificate, privateKey } = await openCertificateAuthority(directory)
  const sockets = new Set<TLSSocket>()
  const servers = serve.map((take) =>
    createServer({ key: privateKey, cert: certificate }, (socket) => {
      sockets.add(socket)
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket))
      take(socket)
    }).listen(0, "127.0.0.1")
  )
  await Promise.all(servers.map((server) => once(server, "listening")))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  return {
    urls: ports.map((port) => `https://127.0.0.1:${port}/`),
    endpoints: ports.map((port) => ({ host: "127.0.0.1", port, caFile })),
    close: async () => {
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

/** Tenants with a mailbox and a webhook each, at the URLs in turn. Each buys from an address of its own. */
const newTenants = async (
  { chainDirectory, sandbox }: DefenseRig,
  count: number,
  urls: ReadonlyArray<string>
): Promise<ReadonlyArray<MailboxFields>> => {
  const chain = await readChainDescription(chainDirectory)
  if (chain === undefined) throw new Error(`no chain in ${chainDirectory}`)
  const agents = Array.from({ length: count }, () => new Agent(sandbox, generatePrivateKey()))
  await new Treasury(chain).fund(
    agents.map(({ account }) => account.address),
    1
  )
  const mailboxes: Array<MailboxFields> = []
  const waiting = agents.map((agent, index) => ({ agent, index }))
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { agent, index } = next
      const headers = { "x-forwarded-for": `${index % 2 === 0 ? "198.51.100" : "203.0.113"}.${1 + (index >> 1)}` }
      const body = { localPart: freshName() }
      const bought = await agent.pay({ path: "/api/v1/email/mailboxes", body, headers })
      const { authentication, mailbox } = dataOf<{
        readonly mailbox: MailboxFields
        readonly authentication: { readonly accessToken: string }
      }>(bought)
      agent.token = authentication.accessToken
      mailboxes.push(mailbox)
      await setWebhook(agent, urls[index % urls.length]!, headers)
    }
  }
  await Promise.all([work(), work(), work(), work()])
  return mailboxes
}

const setWebhook = async (agent: Agent, url: string, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
  const set = await agent.send({ path: WEBHOOK, body: { url }, headers })
  if (set.status !== 201) throw new Error(`a webhook was answered ${set.status}: ${set.text}`)
}

/** Interim answers that never end. */
const answerWithoutEnd = (socket: TLSSocket): void => {
  const interim = Buffer.from("HTTP/1.1 103 Early Hints\r\nX: a\r\n\r\n".repeat(500))
  const pour = (): void => {
    while (!socket.destroyed && socket.write(interim));
  }
  socket.once("data", pour).on("drain", pour)
}

/** The same, in TLS records of one byte. */
const answerInterimPieces = (socket: TLSSocket): void => {
  const interim = Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n")
  socket.setNoDelay(true).once("data", () => {
    let at = 0
    const pour = (): void => {
      for (let count = 0; count < 200 && !socket.destroyed; count++) {
        socket.write(interim.subarray(at % interim.length, (at % interim.length) + 1))
        at++
      }
      if (!socket.destroyed) setImmediate(pour)
    }
    pour()
  })
}

/** A head that never ends, of short fields. */
const answerWithFields = (socket: TLSSocket): void => {
  const fields = Buffer.from("a: b\r\n".repeat(2_000))
  const pour = (): void => {
    while (!socket.destroyed && socket.write(fields));
  }
  socket.once("data", () => {
    socket.write("HTTP/1.1 200 OK\r\n")
    pour()
  })
  socket.on("drain", pour)
}

const staySilent = (socket: TLSSocket): void => void socket.resume()

/** Accepts each event, and passes its text on. */
const accept =
  (received: (text: string) => void) =>
  (socket: TLSSocket): void => {
    socket.on("data", (bytes: Buffer) => {
      const text = bytes.toString("utf8")
      received(text)
      // The body may come after its headers; the subject of the mail is in it.
      if (text.endsWith("}")) socket.write("HTTP/1.1 204 No Content\r\n\r\n")
    })
  }

/** Mails the victim each second, and records how long each event takes to its webhook. */
const observeVictim = async ({ delayed, rig, signal }: AttackStage, sent: Map<string, number>): Promise<void> => {
  for (let count = 0; !signal.aborted; count++) {
    const subject = `observed ${count}.`
    sent.set(subject, performance.now())
    await deliverMail(rig.sandbox, rig.victim.mailbox.address, { subject, text: subject }, "127.0.0.5")
    await sleep(1_000, undefined, { signal }).catch(() => undefined)
  }
  // Events that have not arrived count with their delay so far, and have time to arrive meanwhile.
  await sleep(1_000)
  for (const at of sent.values()) delayed("webhook event", performance.now() - at)
}

/** Hostile endpoints of many tenants, which get an event as soon as they answer, beside the webhook of the victim. */
const webhookAttack = (tenants: number, serve: (socket: TLSSocket) => void) => async () => {
  const sent = new Map<string, number>()
  let record: AttackStage["delayed"] = () => undefined
  const received = (text: string): void => {
    const subject = /observed \d+\./.exec(text)?.[0] ?? ""
    const at = sent.get(subject)
    if (at !== undefined && sent.delete(subject)) record("webhook event", performance.now() - at)
  }
  // Setting a webhook posts an event to it, which must not begin the attack.
  let isHostile = false
  const acceptAll = accept(() => undefined)
  const hostile = Array.from({ length: HOSTS }, () => (socket: TLSSocket) => (isHostile ? serve : acceptAll)(socket))
  const endpoints = await openEndpoints([accept(received), ...hostile])
  const [own = "", ...others] = endpoints.urls
  let mailboxes: ReadonlyArray<MailboxFields> = []
  return {
    server: { endpoints: endpoints.endpoints, variables: { AGENTOS_TRUSTED_PROXIES: "127.0.0.1/32" } },
    prepare: async (rig: DefenseRig) => {
      mailboxes = await newTenants(rig, tenants, others)
      await setWebhook(rig.victim.agent, own)
    },
    run: async (stage: AttackStage) => {
      record = stage.delayed
      isHostile = true
      let next = 0
      await Promise.all([
        observeVictim(stage, sent),
        inParallel(stage, 4, async () => {
          const mailbox = mailboxes[next++ % mailboxes.length]!
          await deliverMail(
            stage.rig.sandbox,
            mailbox.address,
            { subject: "a", text: "b" },
            `127.0.1.${1 + (next % 200)}`
          ).then(
            () => stage.count("mails to hostile tenants"),
            () => stage.count("mails refused")
          )
          await sleep(100)
        })
      ])
    },
    close: endpoints.close
  }
}

/** An answer of an agent in TLS records and chunks of one byte. */
const answerInPieces = (socket: TLSSocket): void => {
  socket.once("data", () => {
    socket.setNoDelay(true)
    const text = `{"text":"${"a".repeat(200_000)}`
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
    let at = 0
    const pour = (): void => {
      for (let count = 0; count < 500 && at < text.length && !socket.destroyed; count++) {
        socket.write(`1\r\n${text[at++]!}\r\n`)
      }
      if (at < text.length && !socket.destroyed) setImmediate(pour)
    }
    pour()
  })
}

const openAgentPieces = async () => {
  const endpoints = await openEndpoints([answerInPieces])
  let bought: Purchase | undefined
  return {
    server: { endpoints: endpoints.endpoints },
    prepare: async ({ attacker }: DefenseRig) => {
      bought = await new PhoneCustomer(attacker.agent, endpoints.urls[0]!).buy()
    },
    run: (stage: AttackStage) => {
      const { attacker, sandbox } = stage.rig
      const customer = new PhoneCustomer(attacker.agent, endpoints.urls[0]!)
      const carrier = new PhoneCarrier(sandbox)
      return inParallel(stage, 4, async () => {
        const lines = Array.from({ length: 20 }, () => "Hello?")
        const callee = await carrier.person({ lines, patienceSeconds: 1 })
        const call: CallFields | undefined = await customer
          .callOut(bought!.phoneNumberId, callee)
          .catch(() => undefined)
        stage.count(call === undefined ? "calls refused" : "calls")
        await sleep(500)
      })
    },
    close: endpoints.close
  }
}

const SILENT_DOMAIN = "silent.example"
const DNS_HEAD_BYTES = 12

/** Opens a DNS server that does not answer questions about the silent domain, and denies all other names. */
const openDns = async () => {
  const dns = createSocket("udp4")
  dns.on("message", (message, { address, port }) => {
    const labels: Array<string> = []
    let end = DNS_HEAD_BYTES
    for (let length = message[end]!; length > 0; length = message[end]!) {
      labels.push(message.toString("latin1", end + 1, end + 1 + length))
      end += 1 + length
    }
    if (labels.join(".").toLowerCase().endsWith(SILENT_DOMAIN)) return
    // NXDOMAIN, with the question and its type and class (RFC 1035, section 4.1.1).
    const head = Buffer.from([message[0]!, message[1]!, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0])
    dns.send(Buffer.concat([head, message.subarray(DNS_HEAD_BYTES, end + 5)]), port, address)
  })
  dns.bind(0, "127.0.0.1")
  await once(dns, "listening")
  return dns
}

/** Mails of senders whose DNS does not answer, from networks of this many. */
const slowSenders = (networks: number) => async () => {
  const dns = await openDns()
  const variables = { AGENTOS_DNS_SERVERS: `127.0.0.1:${dns.address().port}`, AGENTOS_DNS_ZONE_FILE: "" }
  return {
    server: { variables },
    prepare: async () => undefined,
    run: (stage: AttackStage) => {
      let mails = 0
      return deliverOver(
        stage,
        10,
        () => {
          const domain = `n${++mails}.${SILENT_DOMAIN}`
          return { from: `a@${domain}`, mail: mailOf("Hello\r\n", `a@${domain}`) }
        },
        (worker) => `127.0.${10 + (worker % networks)}.1`
      )
    },
    close: async () => void dns.close()
  }
}

export const OUTSIDE_ATTACKS: ReadonlyArray<Attack> = [
  {
    name: "interim-answers",
    finding: 22,
    summary: "webhooks of 30 tenants that never end their interim answers",
    open: webhookAttack(30, answerWithoutEnd)
  },
  {
    name: "interim-pieces",
    finding: 22,
    summary: "the same in TLS records of one byte",
    open: webhookAttack(30, answerInterimPieces)
  },
  {
    name: "endless-fields",
    finding: 22,
    summary: "webhooks of 30 tenants that never end the fields of their answer",
    open: webhookAttack(30, answerWithFields)
  },
  {
    name: "silent-webhooks",
    finding: 22,
    summary: "webhooks of 280 tenants that never answer",
    open: webhookAttack(280, staySilent)
  },
  {
    name: "answer-pieces",
    finding: 22,
    summary: "answers of an agent to callers in chunks of one byte",
    open: openAgentPieces
  },
  {
    name: "slow-dns",
    finding: 7,
    summary: "mails of domains whose DNS does not answer, from one network on 10 connections",
    open: slowSenders(1)
  },
  {
    name: "slow-dns-networks",
    finding: 7,
    summary: "the same from 10 networks",
    open: slowSenders(10)
  }
]
