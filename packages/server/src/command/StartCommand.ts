import { Failure } from "@agentos/command-line"
import { defineCommand, runEffect } from "./ServerCommand.ts"

export const START = defineCommand(
  {
    name: "start",
    summary: "Run the server until SIGTERM or SIGINT",
    description:
      "Prints one line of JSON with its addresses and its process id when it listens; its log goes to standard error. Creates the tables and brings them up to date. A signal stops it gracefully, within 10 seconds; the same signal again stops it at once.\nAny number of servers can share one PostgreSQL database. At least one of them must run the jobs.",
    arguments: [],
    flags: [
      {
        name: "no-jobs",
        type: "boolean",
        summary: "Answer requests only: leave mail delivery, open payments and periodic jobs to other servers."
      }
    ],
    examples: [
      { line: "agentos-server start", does: "Run a server" },
      { line: "agentos-server start --no-jobs", does: "Add a server that only answers requests" }
    ],
    output: "text",
    json: "one line: {event, http: {host, port}, smtp: {host, port} | null, pid}",
    exits: []
  },
  async (context, { flags }) => {
    const { serverProgram } = await import("../ServerProgram.ts")
    try {
      await runEffect(context, serverProgram({ jobs: !flags["no-jobs"] }))
    } catch (error) {
      // A stop by a signal is a success.
      if (!(error instanceof Failure && error.parts.code === "INTERRUPTED")) throw error
    }
  }
)
