-- AlterTable
ALTER TABLE "Worker" ADD COLUMN     "instance" TEXT;
