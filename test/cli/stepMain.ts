import { runOnNode } from "@agentos/cli/HostNode"

/** agentctl as it is, whose process kills itself at the step of a payment that the environment names. */
const killAt = process.env["AGENTOS_CLI_KILL_AT"]

void runOnNode({
  atStep: async (step) => {
    if (step !== killAt) return
    process.kill(process.pid, "SIGKILL")
    // Whether or not the signal has arrived when the call returns, nothing more is done.
    await new Promise(() => undefined)
  }
})
