import { runOnNode } from "@agentos/cli/NodeProgram"

/** Runs agentctl and kills it at the step of a payment in AGENTOS_CLI_KILL_AT. */
const killAt = process.env["AGENTOS_CLI_KILL_AT"]

void runOnNode({
  atStep: async (step) => {
    if (step !== killAt) return
    process.kill(process.pid, "SIGKILL")
    // The signal may arrive after the call returns. Nothing else may happen before.
    await new Promise(() => undefined)
  }
})
