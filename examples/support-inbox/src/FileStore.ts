/** The stores of the client in a folder, so that limits, payments and the token survive the process. */
import type { JournalEntry, PaymentJournal, TokenStore } from "@agentos/client"
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT"

/** Opens the folder, which only its owner can read. One process at a time may use it. */
export const openFileStore = async (
  directory: string
): Promise<{ readonly tokens: TokenStore; readonly journal: PaymentJournal }> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })

  /** Replaces a file. After a crash, it has its old content or all of the new. */
  const write = async (name: string, value: unknown): Promise<void> => {
    const file = join(directory, name)
    await writeFile(`${file}.new`, JSON.stringify(value), { mode: 0o600, flush: true })
    await rename(`${file}.new`, file)
  }

  const readTokens = async (): Promise<Record<string, string>> => {
    try {
      return JSON.parse(await readFile(join(directory, "tokens.json"), "utf8"))
    } catch (error) {
      if (isMissing(error)) return {}
      throw error
    }
  }

  const paymentFiles = async () => (await readdir(directory)).filter((name) => /^payment-.*\.json$/.test(name))

  return {
    tokens: {
      get: async (key) => (await readTokens())[key],
      set: async (key, token) => write("tokens.json", { ...(await readTokens()), [key]: token })
    },
    journal: {
      load: async () =>
        Promise.all(
          (await paymentFiles()).map(async (name): Promise<JournalEntry> =>
            JSON.parse(await readFile(join(directory, name), "utf8"))
          )
        ),
      save: (entry) => write(`payment-${entry.id}.json`, entry)
    }
  }
}
