#pragma once
#include <string_view>

namespace emplace::cluster {

inline constexpr std::string_view kMasterService = "/tensorflow.MasterService/";
inline constexpr std::string_view kClientService = "/emplace.ClientService/";
inline constexpr std::string_view kTaskService = "/emplace.TaskService/";
inline constexpr std::string_view kDataService = "/emplace.DataService/";  // src/service

// Everything that a server answers, whatever it comes over. Between processes of Emplace's a method goes
// by its place here, so new ones come last.
inline constexpr std::string_view kMethods[] = {
    "/tensorflow.MasterService/CreateSession",
    "/tensorflow.MasterService/ExtendSession",
    "/tensorflow.MasterService/PartialRunSetup",
    "/tensorflow.MasterService/RunStep",
    "/tensorflow.MasterService/CloseSession",
    "/tensorflow.MasterService/ListDevices",
    "/tensorflow.MasterService/Reset",
    "/tensorflow.MasterService/MakeCallable",
    "/tensorflow.MasterService/RunCallable",
    "/tensorflow.MasterService/ReleaseCallable",
    "/emplace.ClientService/Prepare",
    "/emplace.ClientService/Run",
    "/emplace.TaskService/Describe",
    "/emplace.TaskService/AddPart",
    "/emplace.TaskService/RunPart",
    "/emplace.TaskService/Push",
    "/emplace.TaskService/EndStep",
    "/emplace.TaskService/CloseSession",
    "/emplace.TaskService/Reset",
    "/emplace.ClientService/Status",
    "/emplace.TaskService/Status",
    "/emplace.TaskService/Waiting",
    "/emplace.ClientService/Waiting",
    "/emplace.TaskService/JoinGroup",
    "/emplace.TaskService/PushPart",
    "/emplace.TaskService/WatchCollectives",
    "/emplace.ClientService/OpenEager",
    "/emplace.ClientService/HoldEager",
    "/emplace.ClientService/RunEager",
    "/emplace.ClientService/FetchEager",
    "/emplace.ClientService/DropEager",
    "/emplace.DataService/RegisterDataset",
    "/emplace.DataService/FindDataset",
    "/emplace.DataService/OpenIteration",
    "/emplace.DataService/WatchIteration",
    "/emplace.DataService/CloseIteration",
    "/emplace.DataService/RegisterWorker",
    "/emplace.DataService/WatchWorker",
    "/emplace.DataService/FindTask",
    "/emplace.DataService/EndTask",
    "/emplace.DataService/NextSplit",
    "/emplace.DataService/NextElement",
};

// -1: there is none.
inline int method_number(std::string_view name) {
  for (size_t i = 0; i < std::size(kMethods); ++i)
    if (kMethods[i] == name) return static_cast<int>(i);
  return -1;
}

}  // namespace emplace::cluster
