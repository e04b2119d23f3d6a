import { connectToLoad } from '../store/transfer/connect.ts'
import { loadLines } from '../store/transfer/load.ts'
import { readDumpFile } from './dumpFile.ts'
import { runFileTool } from './transferTool.ts'

const usage = `npm run load -- FILE loads a file of npm run dump into an empty database.
The database is the one that the server would use: DATABASE_URL, or the embedded one in XCE_DATA_DIR, which is made if it is missing.
Stop the servers of the old database before you start one on the new: their workers belong to one of them only.`

await runFileTool(usage, async (file, target, log) => {
  const connection = await connectToLoad(target, log)
  try {
    const { rows, header, head } = await loadLines(connection, readDumpFile(file))
    return `Loaded ${rows} rows of ${header.at} into ${connection.what}. Its revisions go on from ${head}: clients get a SNAPSHOT when they resume.`
  } finally {
    await connection.close()
  }
})
