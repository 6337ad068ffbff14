// Prints `ready`; after any input, locks the given directory, prints `held` and keeps the lock until it is
// killed, or prints why it can't.
import { Effect } from "effect"
import { once } from "node:events"
import { lockDirectory } from "../../src/DirectoryLock.ts"

const [directory = ""] = process.argv.slice(2)
const say = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

await say("ready").pipe(
  Effect.andThen(Effect.promise(() => once(process.stdin, "data"))),
  Effect.andThen(lockDirectory(directory)),
  Effect.andThen(say("held")),
  // A fiber that waits for nothing keeps no process alive.
  Effect.andThen(Effect.sleep("1 hour")),
  Effect.scoped,
  Effect.catch((error) =>
    Effect.andThen(
      say(error.message),
      Effect.sync(() => process.exit())
    )
  ),
  Effect.runPromise
)
