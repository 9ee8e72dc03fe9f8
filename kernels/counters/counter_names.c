/* The counters that are used, and every name under which they are known. */
#include "kernels/counters/counter_names.h"

const CounterName COUNTER_NAMES[COUNTER_COUNT] = {
    {"l1tex__m_xbar2l1tex_read_bytes.sum", "read across the boundary", NCU_UNIT_BYTE,
     "l1tex__m_xbar2l1tex_read_sectors.sum"},
    {"l1tex__m_l1tex2xbar_write_bytes.sum", "written across it", NCU_UNIT_BYTE,
     "l1tex__m_l1tex2xbar_write_sectors.sum"},
    {"lts__t_sectors_srcunit_tex_op_read.sum", "sectors read from L2", NCU_UNIT_SECTOR, ""},
    {"lts__t_sectors_srcunit_tex_op_write.sum", "sectors written to L2", NCU_UNIT_SECTOR, ""},
    {"lts__t_sectors_srcunit_ltcfabric.sum", "sectors across the fabric", NCU_UNIT_SECTOR, ""},
    {"dram__bytes_read.sum", "read from HBM", NCU_UNIT_BYTE,
     /* compute capability 10.0 and 12.0; Volta and Turing */
     "dram__bytes_op_read.sum|dram__sectors_read.sum|dram__sectors_op_read.sum|fbpa__dram_read_bytes.sum|"
     "fbpa__dram_read_sectors.sum"},
    {"dram__bytes_write.sum", "written to HBM", NCU_UNIT_BYTE,
     "dram__bytes_op_write.sum|dram__sectors_write.sum|dram__sectors_op_write.sum|fbpa__dram_write_bytes.sum|"
     "fbpa__dram_write_sectors.sum"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "bank conflicts, loads", NCU_UNIT_COUNT, ""},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "bank conflicts, stores", NCU_UNIT_COUNT, ""},
    {"sm__inst_executed_pipe_tensor_op_hmma.sum", "tensor instructions", NCU_UNIT_COUNT,
     "smsp__inst_executed_pipe_tensor_op_hmma.sum"},
    {"gpu__time_duration.sum", "time", NCU_UNIT_SECOND,
     "gpu__time_duration_measured_user.sum|gpu__time_duration_measured_wallclock.sum|gpu__time_active.sum|Duration"},
    {"lts__t_sectors_srcunit_tex_lookup_hit.sum", "L2 sectors that hit", NCU_UNIT_SECTOR, ""},
    {"lts__t_sectors_srcunit_tex_lookup_miss.sum", "L2 sectors that miss", NCU_UNIT_SECTOR, ""},
    {"counted_read_bytes", "bytes counted, read", NCU_UNIT_BYTE, ""},
    {"counted_write_bytes", "bytes counted, written", NCU_UNIT_BYTE, ""},
    {"dram__bytes.sum", "read from HBM and written", NCU_UNIT_BYTE, "dram__sectors.sum"},
    {"lts__t_sectors_srcunit_tex_op_red.sum", "sectors added to in L2", NCU_UNIT_SECTOR, ""},
    {"lts__t_sector_hit_rate.pct", "hit rate of L2, all look-ups", NCU_UNIT_RATIO,
     "L2 Hit Rate|lts__average_t_sector_hit_rate.pct|lts__average_t_sector_hit_rate_realtime.pct|"
     "lts__t_sector_hit_rate.ratio|lts__average_t_sector_hit_rate.ratio"},
    {"l1tex__t_sector_hit_rate.pct", "hit rate of L1", NCU_UNIT_RATIO,
     "L1/TEX Hit Rate|l1tex__average_t_sector_hit_rate.pct|l1tex__t_sector_hit_rate.ratio|"
     "l1tex__average_t_sector_hit_rate.ratio"},
    {"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", "spilled registers read", NCU_UNIT_BYTE,
     "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum|smsp__sass_data_bytes_mem_local_op_ld.sum"},
    {"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum", "spilled registers written", NCU_UNIT_BYTE,
     "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum|smsp__sass_data_bytes_mem_local_op_st.sum"},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", "sectors that loads touched", NCU_UNIT_BYTE,
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"smsp__sass_data_bytes_mem_global_op_ld.sum", "bytes that loads asked for", NCU_UNIT_BYTE,
     "sm__sass_data_bytes_mem_global_op_ld.sum"},
    {"sm__inst_executed_pipe_tensor_op_gmma.sum", "wgmma instructions", NCU_UNIT_COUNT,
     "smsp__inst_executed_pipe_tensor_op_gmma.sum"},
};
