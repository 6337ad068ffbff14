import { isAbsolute, relative } from "node:path"

/** A path as a person here would write it. */
export const shortPath = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short
}
