import { authenticate } from "mailauth"
import { once } from "node:events"
import { SMTPServer } from "smtp-server"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"

/** Starts the relay with the DNS record of the key, or counts and checks the mails since the last command. */
export type RelayCommand = { readonly dkimName: string; readonly dkimRecord: string } | { readonly received: true }

export interface Received {
  readonly port: number
  readonly count: number
  /** The results of DKIM of some of them. */
  readonly dkim: ReadonlyArray<string>
}

/** Every such mail is checked. */
const SAMPLE = 50

let port = 0
let count = 0
let samples: Array<Buffer> = []
let records: ReadonlyMap<string, string> = new Map()

const resolver = async (name: string): Promise<Array<Array<string>>> => {
  const value = records.get(name)
  if (value === undefined) throw Object.assign(new Error(`no record of ${name}`), { code: "ENOTFOUND" })
  return [[value]]
}

const dkimOf = async (raw: Buffer): Promise<string> => {
  const { dkim } = await authenticate(raw, { ip: HOST, helo: HOST, resolver, disableArc: true, disableBimi: true })
  return dkim.results.map(({ status }) => status.result).join(" ")
}

/** A relay that accepts every mail and keeps none. */
answerParent(async (command: RelayCommand): Promise<Received> => {
  if ("received" in command) {
    const dkim = await Promise.all(samples.map(dkimOf))
    const received = { port, count, dkim }
    count = 0
    samples = []
    return received
  }
  records = new Map([[command.dkimName, command.dkimRecord]])
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    onData: (stream, _session, callback) => {
      const isSample = count++ % SAMPLE === 0
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => void (isSample && chunks.push(chunk)))
      stream.on("end", () => {
        if (isSample) samples.push(Buffer.concat(chunks))
        callback()
      })
    }
  })
  server.listen(0, HOST)
  await once(server.server, "listening")
  port = portOf(server.server)
  return { port, count, dkim: [] }
})
