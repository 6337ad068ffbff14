import { execFileSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A disk in memory, with a size of its own. */
export interface SmallDisk {
  readonly directory: string
  readonly resize: (mebibytes: number) => void
  /** Uses up all of its space, until `clear`. */
  readonly fill: () => void
  readonly clear: () => void
  /** Unmounts and removes it. */
  readonly remove: () => void
}

const sizeOf = (mebibytes: number): string => `size=${mebibytes}m,mode=0777`

/** Mounts a disk, which needs Linux and root. Returns undefined where that is not possible. */
export const mountSmallDisk = (mebibytes: number): SmallDisk | undefined => {
  const directory = mkdtempSync(join(tmpdir(), "agentos-disk-"))
  const run = (command: string, ...parameters: ReadonlyArray<string>) =>
    void execFileSync(command, [...parameters, directory], { stdio: "pipe" })
  try {
    run("mount", "-t", "tmpfs", "-o", sizeOf(mebibytes), "tmpfs")
  } catch {
    rmSync(directory, { recursive: true })
    return undefined
  }
  const ballast = join(directory, "ballast")
  return {
    directory,
    fill: () => {
      const file = openSync(ballast, "w")
      try {
        for (const block = Buffer.alloc(64 * 1024); ;) writeSync(file, block)
      } catch {
        // There is no room for more.
      } finally {
        closeSync(file)
      }
    },
    clear: () => rmSync(ballast),
    resize: (size) => run("mount", "-o", `remount,${sizeOf(size)}`),
    remove: () => {
      run("umount", "--lazy")
      rmSync(directory, { recursive: true })
    }
  }
}

/** The reason of a test that is skipped without a disk of its own. */
export const NO_SMALL_DISK = "needs Linux and root, to mount a small disk"
