/** Why a process of the sandbox is asked to end. */
export type StopRequest = "SIGINT" | "SIGTERM" | "parent gone"

/**
 * Resolves once this process is to end: on SIGINT or SIGTERM, or when its stdin closes. A supervisor keeps the far
 * end of that stdin open for as long as it lives, so its end, SIGKILL included, ends its children too. (Started by
 * hand from a terminal, stdin stays open; started with `</dev/null`, the process ends at once.)
 */
export const stopRequested = (): Promise<StopRequest> =>
  new Promise((resolve) => {
    process.once("SIGINT", () => resolve("SIGINT"))
    process.once("SIGTERM", () => resolve("SIGTERM"))
    for (const event of ["end", "close", "error"]) process.stdin.once(event, () => resolve("parent gone"))
    process.stdin.resume()
  })
