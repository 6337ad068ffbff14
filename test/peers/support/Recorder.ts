import { appendFileSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"

/** The folder in which the SMTP sessions of servers with the service are stored, if this environment variable names one. */
const FOLDER = process.env["TEST_PEERS_RECORD"]

export interface Recorder {
  readonly port: number
  readonly close: () => void
}

/** Starts a port of the loopback address in front of another one, which stores what its clients send. */
export const startRecorder = async (targetPort: number): Promise<Recorder> => {
  let sessions = 0
  const server = createServer((client) => {
    const name = `session-${process.pid}-${targetPort}-${++sessions}.txt`
    const target = connect(targetPort, "127.0.0.1")
    if (FOLDER !== undefined) client.on("data", (piece) => appendFileSync(join(FOLDER, name), piece))
    client.on("error", () => target.destroy())
    target.on("error", () => client.destroy())
    client.pipe(target)
    target.pipe(client)
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}
