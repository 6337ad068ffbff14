import { runCommand } from "../command.mjs"

export const buy = (task) => {
  const headers = Object.entries(task.headers).map(([name, value]) => `${name}: ${value}`)
  const words = ["fetch", task.url, "-y", "-m", "POST", "-b", task.body, "-p", "x402", "-H", ...headers]
  return runCommand("agentcash", words, { X402_PRIVATE_KEY: task.privateKey })
}
