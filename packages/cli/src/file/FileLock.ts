import { Failure } from "@agentos/node/command-line"
import { join } from "node:path"
import { acquireFileLock, type FileLock, FileLockedError } from "@agentos/node/file-lock"
import type { Host } from "../host/Host.ts"
import { fileFailure, privateFolder } from "./PrivateFile.ts"

/** How long `withFreeLock` waits: 50 attempts, 100 ms apart. */
const ATTEMPTS = 50
const RETRY_MILLIS = 100

const acquire = (path: string, name: string): FileLock => {
  try {
    return acquireFileLock(path)
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw fileFailure(path, "write", error)
    throw new Failure({
      code: "LOCKED",
      message: `Another agentctl (process ${error.pid}) is using ${name}. Retry when it has finished.`,
      retryable: true
    })
  }
}

/** Takes a lock until its release. Throws LOCKED at once if another process holds it. */
export const lockFile = async (folder: string, name: string): Promise<FileLock> => {
  await privateFolder(folder)
  return acquire(join(folder, `${name}.lock`), name)
}

/** Works under a lock. Throws LOCKED at once if another process holds it. */
export const withLock = async <A>(folder: string, name: string, use: () => Promise<A>): Promise<A> => {
  const lock = await lockFile(folder, name)
  try {
    return await use()
  } finally {
    lock.release()
  }
}

/** Works under a lock that is only held briefly. Throws LOCKED after waiting 5 s for another process. */
export const withFreeLock = async <A>(host: Host, folder: string, name: string, use: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withLock(folder, name, use)
    } catch (error) {
      if (!(error instanceof Failure) || error.parts.code !== "LOCKED" || attempt >= ATTEMPTS) throw error
      await host.sleep(RETRY_MILLIS)
    }
  }
}
