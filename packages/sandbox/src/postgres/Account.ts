import { execFileSync } from "node:child_process"
import { statSync } from "node:fs"
import { dirname } from "node:path"

/** Whose processes run PostgreSQL, which refuses to be root. Without numbers: whoever runs this process. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** This process's own account, or, where that is root, one that every such system has. */
export const unprivileged = (): Account => {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** Whether the account may pass through every directory down to `path`. */
export const isReachable = (path: string, account: Account): boolean => {
  if (account.uid === undefined) return true
  for (let directory = path; ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false
    if (directory === dirname(directory)) return true
  }
}
