import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** Node has no datagram sockets of Unix. File descriptors that come with a message are closed, as systemd does. */
const RECEIVER = `
import os, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("bound", flush=True)
while True:
    message, files, *_ = socket.recv_fds(receiver, 4096, 8)
    for file in files: os.close(file)
    print(message.decode().strip(), flush=True)
`

/** The missing programs on this machine; undefined if it has all. */
export const MISSING_SERVICE_MANAGER = ["python3", "systemd-notify"]
  .filter((program) => spawnSync(program, ["--version"]).status !== 0)
  .map((program) => `needs ${program}`)[0]

/** A stand-in for systemd, which receives the messages of a service. */
export const startServiceManager = async () => {
  const directory = await mkdtemp(join(tmpdir(), "agentos-notify-"))
  const socket = join(directory, "socket")
  const child = spawn("python3", ["-c", RECEIVER, socket], { stdio: ["ignore", "pipe", "inherit"] })
  const messages: Array<string> = []
  const lines = createInterface(child.stdout)
  await once(lines, "line")
  lines.on("line", (line) => messages.push(line))
  return {
    socket,
    /** The messages of the service, without the barriers that follow each message. */
    messages: () => messages.filter((message) => message !== "BARRIER=1"),
    stop: async () => {
      const ended = once(child, "exit")
      child.kill()
      await ended
      await rm(directory, { recursive: true })
    }
  }
}
