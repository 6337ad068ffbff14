import type { CommandName } from "../../src/command/Commands.ts"
import { errorReply, type Reply } from "../support/ApiDouble.ts"
import type { Scene } from "../support/InProcess.ts"
import { selling } from "../support/Samples.ts"

/** The scenes of a command: success, failure and interruption. */
export interface Plan {
  readonly success: Scene
  readonly failure: Scene
  /** The text says why there is nothing to interrupt. */
  readonly interrupt: Scene | "it never waits"
  /** Flags that programs add, such as --yes where a person is asked. */
  readonly forPrograms?: ReadonlyArray<string>
}

/** The plans of some commands. The compiler checks that the union covers all commands. */
export type Plans<Name extends CommandName> = Readonly<Record<Name, Plan>>

/** A command whose last request is this one. */
export const asking = (
  args: ReadonlyArray<string>,
  place: string,
  answer: Reply,
  failure: { readonly reply: Reply; readonly exit: number },
  server: Readonly<Record<string, ReadonlyArray<Reply>>> = {}
): Plan => ({
  success: { args, exit: 0, server: { ...server, [place]: [answer] } },
  failure: { args, exit: failure.exit, server: { ...server, [place]: [failure.reply] } },
  interrupt: { args, exit: 130, server: { ...server, [place]: ["hang"] }, interrupt: "unanswered" }
})

/** A paying command: confirmed, declined by the server, and interrupted at the question. */
export const paying = (
  args: ReadonlyArray<string>,
  place: string,
  answer: Reply,
  server: Readonly<Record<string, ReadonlyArray<Reply>>> = {}
): Plan => {
  const declined = errorReply(402, "PAYMENT_REQUIRED", {
    message: "The payment was not accepted: insufficient_funds. Nothing was charged.",
    paymentState: "none"
  })
  const sells = (reply: Reply) => ({ ...server, ...selling(place, reply) })
  return {
    success: { args, exit: 0, answers: ["y"], server: sells(answer) },
    failure: { args, exit: 7, answers: ["y"], server: sells(declined) },
    interrupt: { args, exit: 130, answers: ["^C"], server: sells(answer) },
    forPrograms: ["--yes", "--max-amount", "5"]
  }
}

export const NOT_YOURS = {
  reply: errorReply(404, "RESOURCE_NOT_FOUND", { message: "There is no such thing of yours." }),
  exit: 5
}
export const NO_TOKEN = {
  reply: errorReply(401, "INVALID_TOKEN", { message: "The access token is not valid." }),
  exit: 4
}
