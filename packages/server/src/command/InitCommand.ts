import { errorCode, Failure } from "@agentos/node/command-line"
import { resolve } from "node:path"
import { defineCommand } from "./ServerCommand.ts"

export const INIT = defineCommand(
  {
    name: "init",
    summary: "Write an environment file with every variable",
    description:
      "Writes a file with every variable, its default and its meaning, that only you can read. The server keys and the operator token in it are new and random; fill in the other required variables.",
    arguments: [
      { name: "file", summary: "The file to write. By default agentos.env.", presence: "optional", completes: "file" }
    ],
    flags: [
      { name: "force", short: "f", type: "boolean", summary: "Replace the file if it exists, with its secrets." }
    ],
    examples: [
      { line: "agentos-server init", does: "Write agentos.env" },
      { line: "agentos-server init /etc/agentos/agentos.env", does: "Write another file" }
    ],
    output: "record",
    json: "{file, required: [name]}",
    exits: [6]
  },
  async ({ host, output }, { arguments: { file = "agentos.env" }, flags: { force } }) => {
    const { writeFile, rename, rm } = await import("node:fs/promises")
    const { environmentFile } = await import("../variable/Documents.ts")
    const { ALL_VARIABLES } = await import("../variable/Variables.ts")
    const { newKey, newOperatorToken } = await import("../Secrets.ts")
    const path = resolve(host.workingDirectory, file)
    const secrets = { AGENTOS_KEYS: newKey(1), AGENTOS_OPERATOR_TOKEN: newOperatorToken() }
    const write = (to: string) => writeFile(to, environmentFile(secrets), { mode: 0o600, flag: "wx" })
    try {
      if (force) {
        // A new file gets its mode when it is created; an existing one would keep its own.
        const draft = `${path}.${process.pid}.tmp`
        await write(draft)
        await rename(draft, path).catch(async (error: unknown) => {
          await rm(draft, { force: true })
          throw error
        })
      } else await write(path)
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error
      throw new Failure({
        code: "EXISTS",
        message: `${path} exists already. Choose another file, or replace it and its secrets with --force.`
      })
    }
    const required = ALL_VARIABLES.filter(([name, spec]) => spec.required !== undefined && !(name in secrets))
    const names = [...required.map(([name]) => name), "DATABASE_URL"]
    output.record({ file: path, required: names }, [["Written", path]])
    output.note(`Fill in ${names.join(", ")}.\nNext: agentos-server check-config --env-file ${file}`)
  }
)
