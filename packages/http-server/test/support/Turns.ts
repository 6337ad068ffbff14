/** More turns than anything that is ready takes to be done. */
const TURNS = 300

/**
 * Returns when this process has done all work that is ready. Clients and servers of a test run in one process over the
 * loopback interface, so nothing that one of them has sent is left unread, except by a reader that stops reading.
 */
export const idle = async (): Promise<void> => {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}
