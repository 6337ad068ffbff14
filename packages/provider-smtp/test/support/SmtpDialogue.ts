import { connect, type Socket } from "node:net"

/** A client that sends any given line, to test what no proper client would do. */
export interface SmtpDialogue {
  readonly socket: Socket
  /** Returns the next complete reply, its lines joined by `\n`; rejects if the connection closes first. */
  readonly reply: () => Promise<string>
  /** Sends a line and returns the reply to it. */
  readonly say: (line: string) => Promise<string>
  readonly write: (bytes: string | Uint8Array) => Promise<void>
  /** Resolves once the connection is closed. */
  readonly closed: Promise<void>
}

export const openDialogue = async (port: number, localAddress?: string): Promise<SmtpDialogue> => {
  const socket = connect({ port, host: "127.0.0.1", ...(localAddress === undefined ? {} : { localAddress }) })
  const replies: Array<string> = []
  const waiting: Array<{ readonly resolve: (reply: string) => void; readonly reject: (error: Error) => void }> = []
  let buffered = ""
  let gone = false
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  socket.on("error", () => undefined)
  socket.on("close", () => {
    gone = true
    for (const { reject } of waiting.splice(0)) reject(new Error("the connection was closed"))
  })
  socket.on("data", (chunk) => {
    buffered += chunk.toString("latin1")
    for (;;) {
      const match = /^(?:\d{3}-[^\r\n]*\r\n)*\d{3}(?: [^\r\n]*)?\r\n/.exec(buffered)
      if (match === null) return
      buffered = buffered.slice(match[0].length)
      const reply = match[0].trimEnd().replaceAll("\r\n", "\n")
      const next = waiting.shift()
      if (next === undefined) replies.push(reply)
      else next.resolve(reply)
    }
  })
  const reply = () =>
    new Promise<string>((resolve, reject) => {
      const known = replies.shift()
      if (known !== undefined) resolve(known)
      else if (gone) reject(new Error("the connection was closed"))
      else waiting.push({ resolve, reject })
    })
  const write = async (bytes: string | Uint8Array) => {
    if (socket.destroyed || socket.write(bytes)) return
    await Promise.race([new Promise<void>((resolve) => socket.once("drain", resolve)), closed])
  }
  return { socket, closed, reply, write, say: (line) => write(`${line}\r\n`).then(reply) }
}

/** Opens a client that has read the greeting and sent EHLO. */
export const openSession = async (port: number, localAddress?: string): Promise<SmtpDialogue> => {
  const dialogue = await openDialogue(port, localAddress)
  await dialogue.reply()
  await dialogue.say("EHLO out.sender.test")
  return dialogue
}

/** Advances a session to the server's acceptance of DATA, and returns its reply. */
export const startMessage = async (dialogue: SmtpDialogue, recipient: string): Promise<string> => {
  await dialogue.say("MAIL FROM:<news@sender.test>")
  await dialogue.say(`RCPT TO:<${recipient}>`)
  return dialogue.say("DATA")
}
