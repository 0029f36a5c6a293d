export const BUGS = []
