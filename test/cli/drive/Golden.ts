import { fileURLToPath } from "node:url"

/** Who looks: somebody at a terminal, or a program at the end of pipes. */
export type Reader = "person" | "program"

/** The file that holds what they see of a command. */
export const goldenOf = (reader: Reader, command: string): string =>
  fileURLToPath(new URL(`../golden/${reader}/${command.replaceAll(" ", "-")}.txt`, import.meta.url))

/** What a program was told on standard output, and on standard error with `! ` before each line. */
export const throughPipes = (line: string, seen: { stdout: string; stderr: string; code: number | null }): string =>
  `$ ${line}\n${seen.stdout}${seen.stderr.replaceAll(/^(?=.)/gm, "! ")}[exit ${seen.code}]\n`
