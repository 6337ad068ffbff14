import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

const LOOPBACK_ONLY = new URL("loopbackOnly.mjs", import.meta.url).href

/** Runs a command of the installed packages, and returns its output as the text of a response without status. */
export const runCommand = async (name, words, environment) => {
  const folder = import.meta.dirname
  const child = spawn(
    process.execPath,
    ["--import", LOOPBACK_ONLY, join(folder, "node_modules/.bin", name), ...words],
    {
      cwd: folder,
      env: { ...process.env, HOME: folder, CI: "1", NO_COLOR: "1", ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    }
  )
  let text = ""
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => (text += part))
  const [code] = await once(child, "close")
  const status = /"(?:status|statusCode)": ?(\d{3})|HTTP\/1\.1 (\d{3})/.exec(text)
  return { status: status === null ? 0 : Number(status[1] ?? status[2]), text: `exit ${code}: ${text.trim()}` }
}
