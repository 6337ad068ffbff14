/** More turns than anything that is ready takes to be done. */
const TURNS = 300

/**
 * Returns when this process has done what is ready. Clients and servers of a test run in one process over the loopback
 * interface, so nothing that one of them has sent is left unread, except what the reader leaves unread.
 */
export const idle = async (): Promise<void> => {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}
