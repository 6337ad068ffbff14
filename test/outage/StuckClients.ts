import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { emailDomain, type MailService } from "@agentos/sandbox"
import type { OwnMailbox } from "../crash/Purchase.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import type { Testbed } from "../faults/server/Testbed.ts"
import { Realtime } from "../support/Realtime.ts"

/** As many requests as a connection may have unanswered. Their answers are larger than the buffers of a connection. */
const UNREAD_REQUESTS = 16
const LARGE_BYTES = 4 * 1024 * 1024
const PINGS = 1_000
const PAUSE_MILLIS = 50
const WAIT_MILLIS_MAX = 30_000

const POST = "POST /api/v1/email/mailboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

/** Requests that end in the middle. */
const HALVES = [
  "",
  "GET /health/ready HTTP/1.1\r\nHost: x\r\n",
  `${POST}Content-Length: 99\r\n\r\n{`,
  `${POST}Transfer-Encoding: chunked\r\n\r\nff\r\n{`,
  "GET /api/v1/events/socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
]

type Dialog = ReadonlyArray<readonly [answer: string, text: string]>

/** Sessions that end in the middle of a command, of a handshake and of a mail. */
const sessionsTo = (recipient: string): ReadonlyArray<Dialog> => [
  [["220", "EHLO"]],
  [
    ["220", "EHLO x\r\n"],
    ["250 ", "STARTTLS\r\n"],
    ["220", "\u0016\u0003\u0001"]
  ],
  [
    ["220", "EHLO x\r\n"],
    ["250 ", "MAIL FROM:<ada@else.test>\r\n"],
    ["250", `RCPT TO:<${recipient}>\r\n`],
    ["250", "DATA\r\n"],
    ["354", "From: ada@else.test\r\nSubject: half"]
  ]
]

/** Waits for an event; fails once the connection is closed, and after 30 seconds. */
const next = async (socket: Socket, event: string): Promise<void> => {
  const ended = new AbortController()
  const closed = () => ended.abort(new Error(`the connection was closed before ${event}`))
  if (socket.closed) closed()
  socket.once("close", closed)
  try {
    await once(socket, event, { signal: AbortSignal.any([ended.signal, AbortSignal.timeout(WAIT_MILLIS_MAX)]) })
  } finally {
    socket.off("close", closed)
  }
}

/** Waits for the end of a connection, which may be a reset; fails after 30 seconds. */
const ended = async (socket: Socket): Promise<void> => {
  if (socket.destroyed) return
  await once(socket, "close", { signal: AbortSignal.timeout(WAIT_MILLIS_MAX) }).catch((error: unknown) => {
    if (!socket.destroyed) throw error
  })
}

const dial = async (host: string, port: number): Promise<Socket> => {
  const socket = connect(port, host)
  socket.on("error", () => undefined)
  await next(socket, "connect")
  return socket
}

/** Sends each text once the server has answered with a line that begins as given. */
const converse = async (socket: Socket, dialog: Dialog): Promise<void> => {
  let text = ""
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk))
  for (const [answer, reply] of dialog) {
    while (!text.split("\r\n").some((line) => line.startsWith(answer))) {
      await next(socket, "data").catch((cause: unknown) => {
        throw new Error(`no ${answer} before ${JSON.stringify(reply)}, only ${JSON.stringify(text)}`, { cause })
      })
    }
    text = ""
    socket.write(reply)
  }
}

/** Receives a large mail, and returns the path that serves it. */
const receiveLargeMail = async (mail: MailService, wallet: Wallet, { localPart, mailboxId }: OwnMailbox) => {
  const line = `${"x".repeat(76)}\r\n`
  const raw = Buffer.from(`From: ada@else.test\r\nSubject: large\r\n\r\n${line.repeat(LARGE_BYTES / line.length)}`)
  await mail.deliver({ mailFrom: "ada@else.test", rcptTo: [`${localPart}@${emailDomain}`] }, raw)
  const deadline = Date.now() + WAIT_MILLIS_MAX
  for (;;) {
    const { body } = await wallet.on().send({ path: `/api/v1/email/messages/query?mailboxId=${mailboxId}` })
    const [message] = body.data["items"] as unknown as ReadonlyArray<{ readonly messageId: string }>
    if (message !== undefined) return `/api/v1/email/messages/${message.messageId}/raw`
    if (Date.now() > deadline) throw new Error("the large mail was not received")
    await sleep(PAUSE_MILLIS)
  }
}

/** Connections of clients that don't read, or that stop in the middle of sending. */
export interface StuckClients {
  /** Bytes for the client that reads nothing that no buffer had room for. Read after the end of the server. */
  readonly unreadBytes: () => Promise<number>
  readonly close: () => void
}

export const openStuckClients = async (
  { cluster, mail: mailService }: Testbed,
  wallet: Wallet,
  mailbox: OwnMailbox
): Promise<StuckClients> => {
  const { baseUrl, mail } = cluster.servers[0]!
  const { hostname, port } = new URL(baseUrl)
  const path = await receiveLargeMail(mailService, wallet, mailbox)
  const dialHttp = () => dial(hostname, Number(port))
  const sockets: Array<Socket> = []
  for (const half of HALVES) {
    const socket = await dialHttp()
    socket.write(half)
    sockets.push(socket)
  }
  for (const dialog of sessionsTo(`${mailbox.localPart}@${emailDomain}`)) {
    const socket = await dial(mail.host, mail.port)
    await converse(socket, dialog)
    sockets.push(socket)
  }
  const realtime = await Realtime.open(wallet.on())
  await realtime.next("session.ready")
  realtime.socket.pause()
  for (let count = 0; count < PINGS; count++) realtime.socket.ping("x".repeat(100))

  const unread = await dialHttp()
  sockets.push(unread)
  unread.pause()
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${wallet.token}\r\n\r\n`
  unread.write(request.repeat(UNREAD_REQUESTS))
  // The first bytes of an answer.
  await next(unread, "readable")
  return {
    unreadBytes: async () => {
      unread.resume()
      await ended(unread)
      return UNREAD_REQUESTS * LARGE_BYTES - unread.bytesRead
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      realtime.socket.terminate()
    }
  }
}
