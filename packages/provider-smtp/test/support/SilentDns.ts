import { createSocket } from "node:dgram"
import type { SenderDns } from "../../src/SenderDns.ts"

/** A DNS server without records that does not answer questions about some domains. */
export interface SilentDns {
  readonly dns: SenderDns
  /** Returns how many questions about a name were received. */
  readonly questionsAbout: (name: string) => number
  readonly close: () => void
}

/** Reads the name of the first question (RFC 1035, section 4.1.2), and where it ends. */
const questionOf = (message: Buffer): { readonly name: string; readonly end: number } => {
  const labels: Array<string> = []
  let at = 12
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join(".").toLowerCase(), end: at + 5 }
}

/** Listens on a port of 127.0.0.1. Names in `silentDomain` get no answer, all others NXDOMAIN. */
export const openSilentDns = async (silentDomain: string): Promise<SilentDns> => {
  const socket = createSocket("udp4")
  const counts = new Map<string, number>()
  socket.on("message", (message, { address, port }) => {
    const { end, name } = questionOf(message)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (name === silentDomain || name.endsWith(`.${silentDomain}`)) return
    const head = Buffer.from([message[0]!, message[1]!, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0])
    socket.send(Buffer.concat([head, message.subarray(12, end)]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
  return {
    dns: { _tag: "Servers", servers: [`127.0.0.1:${socket.address().port}`] },
    questionsAbout: (name) => counts.get(name) ?? 0,
    close: () => void socket.close()
  }
}
