import type { Random } from "../../support/Random.ts"
import { ATTACKER_ADDRESSES } from "../DefenseRig.ts"
import { bytesOf, chance, mutateText, oddText, several } from "../Mutation.ts"
import { SmtpConnection } from "../SmtpConnection.ts"
import type { Flaw } from "../Flaw.ts"
import { fill, type Target } from "./Target.ts"

export interface SmtpDialogue {
  /** Written one after the other without waiting for replies. Bytes as latin1. */
  readonly pieces: ReadonlyArray<string>
}

const ADDRESSES = [
  "<{{own.address}}>",
  "<{{own.address}}>",
  "<{{other.address}}>",
  "<>",
  "<a@b.example>",
  "<@relay.example:a@b.example>",
  '<"a b"@c.example>',
  "<a@[127.0.0.1]>",
  "<a@b@c>",
  "a@b.example",
  "<unknown@{{own.address}}>",
  "<ü@ü.example>",
  `<${"x".repeat(300)}@b.example>`
]

const PARAMETERS = [
  "",
  "",
  " SIZE=100",
  " SIZE=999999999999",
  " SIZE=-1",
  " BODY=8BITMIME",
  " SMTPUTF8",
  " X=Y",
  " SIZE"
]

const MESSAGES = [
  "From: a@b.example\r\nSubject: a\r\n\r\nHello",
  "",
  "..\r\n..\r\n.leading dot",
  "no header",
  "From: a@b.example\r\nSubject: a\r\n\r\nHello\r\n.\nMAIL FROM:<smuggled@elsewhere.example>\r\nRCPT TO:<{{own.address}}>\r\nDATA",
  "From: a@b.example\r\nSubject: a\r\n\r\nHello\n.\nMAIL FROM:<smuggled@elsewhere.example>",
  "From: a@b.example\r\nSubject: a\r\n\r\nHello\n.\r\nMAIL FROM:<smuggled@elsewhere.example>",
  "From: a@b.example\r\nSubject: a\r\n\r\nHello\r.\rMAIL FROM:<smuggled@elsewhere.example>",
  "x".repeat(5_000),
  "\u0000\u0080\u00ff"
]

const command = (random: Random): string => {
  const address = () => random.pick(ADDRESSES) + random.pick(PARAMETERS)
  const commands: ReadonlyArray<() => string> = [
    () => `MAIL FROM:${address()}`,
    () => `RCPT TO:${address()}`,
    () => `RCPT TO:${random.pick(ADDRESSES)}`,
    () => `MAIL FROM:<a@b.example>\r\nRCPT TO:<{{own.address}}>\r\nDATA\r\n${random.pick(MESSAGES)}\r\n.`,
    () => "DATA",
    () => ".",
    () => "RSET",
    () => "NOOP",
    () => "VRFY postmaster",
    () => "EXPN all",
    () => "HELP",
    () => "EHLO client.example",
    () => "HELO",
    () => `EHLO ${bytesOf(oddText(random)).replaceAll(/[\r\n]/g, "")}`,
    () => "STARTTLS",
    () => "AUTH PLAIN AGEAYg==",
    () => "BDAT 5 LAST\r\nHello",
    () => "XCLIENT ADDR=127.0.0.1",
    () => "GET / HTTP/1.1",
    () => "x".repeat(random.pick([512, 1_024, 5_000])),
    () => bytesOf(oddText(random))
  ]
  return random.pick(commands)()
}

const generate = (random: Random): SmtpDialogue => {
  const lines = Array.from({ length: 1 + random.integer(12) }, () => {
    const line = `${command(random)}\r\n`
    return chance(random, 6) ? several(random, 2, line, (text) => mutateText(random, text)) : line
  })
  const text = `${chance(random, 8) ? "" : "EHLO client.example\r\n"}${lines.join("")}`
  return { pieces: chance(random, 4) ? (text.match(/[\s\S]{1,61}/g) ?? []) : [text] }
}

/** Ends a command that the dialogue left open. */
const GOODBYE = "\r\n.\r\nRSET\r\nQUIT\r\n"
const QUIET_MILLIS = 500
const REPLY = /^[2-5]\d\d(?: |$)/
const ACCEPTED = "2.6.0"
/** The server's own failure, which no dialogue may cause. */
const TROUBLE = /^(?:451 4\.3\.0|421 4\.3\.0|500 5\.5\.0 Internal)/

const countOf = (text: string, part: string): number => text.split(part).length - 1

/** SMTP dialogues: commands in any order, pipelined, cut, too long, smuggled. */
export const smtpTarget: Target<SmtpDialogue> = {
  name: "smtp",
  summary: "SMTP dialogues",
  workers: 3,
  generate,
  open: async ({ count, oracle, rig }) => ({
    play: async ({ pieces }) => {
      const text = fill(pieces.join(""), rig) + GOODBYE
      const connection = new SmtpConnection({ ...rig.smtp, localAddress: ATTACKER_ADDRESSES[0] })
      const replies = await converse(connection, [...pieces.map((piece) => fill(piece, rig)), GOODBYE])
      count("dialogues")
      const accepted = replies.filter((reply) => reply.includes(ACCEPTED)).length
      count("mails accepted", accepted)
      const flaws: Array<Flaw> = [...oracle.examineText(replies.join("\n"))]
      const add = (rule: string, detail: string) => flaws.push({ rule, detail })
      for (const reply of replies) {
        if (!REPLY.test(reply)) add("every reply is one of SMTP", reply.slice(0, 200))
        if (TROUBLE.test(reply)) add("no dialogue makes the server fail", reply)
      }
      // RFC 5321, section 4.1.1.4: nothing but a dot alone between two CRLF ends a message.
      if (accepted > countOf(text, "\r\n.\r\n")) add("nothing but <CRLF>.<CRLF> ends a message", `${accepted} accepted`)
      return flaws
    },
    close: async () => undefined
  })
}

/** All replies, until the server closes or is silent for a while. */
const converse = async (connection: SmtpConnection, pieces: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const replies: Array<string> = []
  let quiet: NodeJS.Timeout | undefined
  const wait = () => {
    clearTimeout(quiet)
    quiet = setTimeout(() => connection.destroy(), QUIET_MILLIS)
  }
  const greeting = await connection.reply()
  if (greeting !== undefined) replies.push(greeting)
  for (const piece of pieces) await connection.write(piece)
  for (wait(); ; wait()) {
    const reply = await connection.reply()
    if (reply === undefined) break
    replies.push(reply)
  }
  clearTimeout(quiet)
  return replies
}
