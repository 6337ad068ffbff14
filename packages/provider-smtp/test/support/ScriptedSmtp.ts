import { createServer, type Server, type Socket } from "node:net"

/** The server's action at one step: sends a text, closes the connection, or keeps silent. */
export type Reply = string | { readonly drop: true; readonly after?: string } | { readonly silent: true }

export const drop: Reply = { drop: true }
export const silence: Reply = { silent: true }

export interface Script {
  readonly greeting?: Reply
  /** The extensions in its reply to EHLO. */
  readonly extensions?: ReadonlyArray<string>
  /** Its reply to a command; undefined for the default one. `connection` is counted from 1. */
  readonly command?: (line: string, connection: number) => Reply | undefined
  /** Its reply to the final dot. */
  readonly message?: Reply
  /** Closes the connection once it has received this many bytes of a message. */
  readonly dropAfterBytes?: number
}

/** An SMTP server that follows a script, and records the received commands and messages. */
export interface ScriptedSmtp {
  readonly port: number
  readonly commands: Array<string>
  readonly messages: Array<string>
  readonly connections: () => number
  readonly openConnections: () => number
  readonly dropConnections: () => void
  readonly close: () => Promise<void>
}

const usual = (line: string, script: Script): string => {
  const verb = line.slice(0, 4).toUpperCase()
  if (verb === "EHLO") {
    const lines = ["relay.test", ...(script.extensions ?? [])]
    return lines.map((text, index) => `250${index === lines.length - 1 ? " " : "-"}${text}`).join("\r\n")
  }
  if (verb === "DATA") return "354 go on"
  if (verb === "QUIT") return "221 bye"
  return "250 2.0.0 ok"
}

export const startScriptedSmtp = async (script: Script = {}): Promise<ScriptedSmtp> => {
  const commands: Array<string> = []
  const messages: Array<string> = []
  const sockets = new Set<Socket>()
  let connections = 0

  const serve = (socket: Socket) => {
    const connection = ++connections
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
    let buffered = ""
    let inMessage = false
    const say = (reply: Reply) => {
      if (typeof reply === "object" && "silent" in reply) return
      if (typeof reply === "string") socket.write(`${reply}\r\n`)
      else if (reply.after === undefined) socket.destroy()
      else socket.end(reply.after)
    }
    say(script.greeting ?? "220 relay.test ESMTP")
    socket.on("data", (chunk) => {
      buffered += chunk.toString("latin1")
      for (;;) {
        if (inMessage) {
          if (script.dropAfterBytes !== undefined && buffered.length >= script.dropAfterBytes) return say(drop)
          const end = buffered.indexOf("\r\n.\r\n")
          if (end < 0) return
          messages.push(buffered.slice(0, end + 2).replace(/^\.\./gm, "."))
          buffered = buffered.slice(end + 5)
          inMessage = false
          say(script.message ?? "250 2.0.0 queued as 1")
        } else {
          const end = buffered.indexOf("\r\n")
          if (end < 0) return
          const line = buffered.slice(0, end)
          buffered = buffered.slice(end + 2)
          commands.push(line)
          const reply = script.command?.(line, connection) ?? usual(line, script)
          if (typeof reply === "string" && reply.startsWith("354")) inMessage = true
          say(reply)
        }
      }
    })
  }

  const server: Server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const dropConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    commands,
    messages,
    connections: () => connections,
    openConnections: () => sockets.size,
    dropConnections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        dropConnections()
      })
  }
}
