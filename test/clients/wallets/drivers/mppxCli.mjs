import { runCommand } from "../command.mjs"

export const buy = (task) =>
  runCommand("mppx", [task.url, "--protocol", "x402", "-X", "POST", "-d", task.body, ...headerArguments(task)], {
    MPPX_PRIVATE_KEY: task.privateKey
  })

const headerArguments = ({ headers }) => Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`])
